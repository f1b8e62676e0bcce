"""The Celery app of the console's own housekeeping. JSON only; field jobs have another queue."""

import os

from celery import Celery
from celery.schedules import crontab

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings.embedded")

app = Celery("console")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    task_serializer="json",
    accept_content=["json"],
    result_backend=None,
    task_ignore_result=True,
    task_default_queue="console",
    task_create_missing_queues=False,
    task_time_limit=120,
    task_soft_time_limit=90,
    broker_connection_retry_on_startup=True,
    broker_transport_options={"socket_timeout": 10, "socket_connect_timeout": 5},
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    timezone="UTC",
)
# Work that nobody picked up for hours after it was due is not wanted any more: the next one does it.
app.conf.beat_schedule = {
    "look around for alarms": {"task": "alarms.look_around", "schedule": 5.0, "options": {"expires": 5}},
    "withdraw old requests to clear": {"task": "control.drop_expired_clears", "schedule": 30.0, "options": {"expires": 30}},
    "forget old sign-ins": {
        "task": "accounts.forget_old_sign_ins",
        "schedule": crontab(hour=3, minute=27),
        "options": {"expires": 6 * 3600},
    },
    "forget old idempotency keys": {
        "task": "journal.forget_old_keys",
        "schedule": crontab(hour=3, minute=17),
        "options": {"expires": 6 * 3600},
    },
    "forget old samples": {
        "task": "telemetry.forget_old_blocks",
        "schedule": crontab(minute=47),
        "options": {"expires": 1800},
    },
}
app.autodiscover_tasks()
