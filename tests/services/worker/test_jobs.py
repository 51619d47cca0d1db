"""What becomes of a job that fails."""

import pytest
from celery import Celery

from services.orders.tasks import Job
from shared.couch import UpdateConflict
from shared.errors import Unavailable


@pytest.mark.parametrize(
    "error", [Unavailable("Redis does not answer."), UpdateConflict("Somebody was first.")]
)
def test_a_job_that_found_another_writer_or_nobody_is_done_again(error: Exception) -> None:
    """A dead letter that waits for an admin would keep the sweep from the order for good."""
    done = []

    @Celery().task(base=Job, name=f"job that meets {type(error).__name__}")
    def job(subject: str) -> None:
        done.append(subject)
        if len(done) == 1:
            raise error

    job.apply(kwargs={"subject": "o1"}).get()
    assert done == ["o1", "o1"]
