"""The indexes that design documents declare, built in the background: few changes at a time here, many in a child process."""
