"""Reads of the shell."""

from apps.shell.selectors.frame import HELP, NAVIGATION, display, frame
from apps.shell.selectors.gallery import gallery_page
from apps.shell.selectors.sentences import told

__all__ = ["HELP", "NAVIGATION", "display", "frame", "gallery_page", "told"]
