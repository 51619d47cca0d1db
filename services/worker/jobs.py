"""Every service's jobs, registered in one place for the worker and the timekeeper."""

from celery import Celery

from services.orders import tasks as orders
from services.products import tasks as products
from services.users import tasks as users
from shared.jobs import PeriodicJobs


def register_jobs(queue: Celery) -> PeriodicJobs:
    """Adds all jobs to the queue; those that are due by the clock are returned."""
    return orders.register(queue) | products.register(queue) | users.register(queue)
