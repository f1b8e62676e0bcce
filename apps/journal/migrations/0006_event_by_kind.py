"""Facts of one kind at a site are found without reading all others."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds the index."""

    dependencies = [("journal", "0005_append")]
    operations = [
        migrations.AddIndex(
            model_name="event",
            index=models.Index(fields=["site_id", "type", "-position"], name="journal_event_kind"),
        ),
    ]
