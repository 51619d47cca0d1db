"""Why a picture is not taken."""


class Unreadable(Exception):
    """No picture that can be shown: broken, cut off, or made to break its reader."""


class TooManyPixels(Exception):
    """A picture that would take too much memory."""


class Busy(Exception):
    """Others upload too, or the machine has much else to do, and this one has waited long enough."""
