"""Reads of the shell."""

from apps.shell.selectors.floor import floor_view
from apps.shell.selectors.frame import HELP, NAVIGATION, display, frame
from apps.shell.selectors.gallery import gallery_page
from apps.shell.selectors.sentences import told

__all__ = ["HELP", "NAVIGATION", "display", "floor_view", "frame", "gallery_page", "site_episodes", "told"]
