"""The buckets that limit guessing."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="SignInBudget",
            fields=[
                ("key", models.BinaryField(max_length=32, primary_key=True, serialize=False)),
                ("level", models.FloatField(default=0)),
                ("counted_at", models.DateTimeField()),
            ],
            options={
                "db_table": "accounts_sign_in_budget",
                "indexes": [models.Index(fields=["counted_at"], name="accounts_budget_age")],
            },
        ),
    ]
