"""Reads of stored samples. The newest seconds are not stored yet: they are in the ring of the gateway."""

from apps.telemetry.selectors.charts import MOST_CHANNELS, MOST_PIXELS, series
from apps.telemetry.selectors.layouts import layouts_of
from apps.telemetry.selectors.samples import latest, samples
from apps.telemetry.selectors.storage import storage

__all__ = ["MOST_CHANNELS", "MOST_PIXELS", "latest", "layouts_of", "samples", "series", "storage"]
