"""Tables of fleet. All but RobotReport and GatewayNode are projected from the journal; only `projections.py` writes them."""

from django.db import models

from apps.kernel.ids import new_id


class Bridge(models.Model):
    """One bridge of a site by name, and its newest connection. `epoch` grows with each hello and fences the older ones."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    site = models.ForeignKey("accounts.Site", on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=100)
    credential_id = models.UUIDField()
    epoch = models.BigIntegerField(default=0)
    boot = models.UUIDField(null=True)
    gateway = models.CharField(max_length=100, blank=True)
    software = models.CharField(max_length=100, blank=True)
    connected_at = models.DateTimeField(null=True)
    lost_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "fleet_bridge"
        constraints = [models.UniqueConstraint(fields=["site", "name"], name="fleet_bridge_name_once")]
        indexes = [models.Index(fields=["gateway"], condition=models.Q(lost_at=None), name="fleet_bridge_connected")]

    def __str__(self) -> str:
        return f"{self.name} at {self.site_id}"


class BootCursor(models.Model):
    """How far the facts of one boot of a bridge were taken: everything up to `sequence`, without gaps."""

    id = models.BigAutoField(primary_key=True)
    bridge = models.ForeignKey(Bridge, on_delete=models.PROTECT, related_name="+")
    boot = models.UUIDField()
    sequence = models.BigIntegerField()
    taken_at = models.DateTimeField()

    class Meta:
        db_table = "fleet_boot_cursor"
        constraints = [models.UniqueConstraint(fields=["bridge", "boot"], name="fleet_boot_once")]
        indexes = [models.Index(fields=["bridge", "-taken_at"], name="fleet_boot_newest")]

    def __str__(self) -> str:
        return f"{self.boot} at {self.sequence}"


class Robot(models.Model):
    """One robot of a site. `bridge` is the one that may speak for it, whether or not it is connected."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    site = models.ForeignKey("accounts.Site", on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=50)
    is_simulated = models.BooleanField(default=False)
    registered_at = models.DateTimeField()
    registered_by = models.UUIDField(null=True)
    version = models.BigIntegerField(default=1)  # of who may speak for it
    bridge = models.ForeignKey(Bridge, on_delete=models.PROTECT, null=True, related_name="+")
    bound_at = models.DateTimeField(null=True)
    contested_by = models.ForeignKey(Bridge, on_delete=models.PROTECT, null=True, related_name="+")
    contested_at = models.DateTimeField(null=True)
    channels = models.JSONField(default=list)
    cameras = models.JSONField(default=list)
    episode_id = models.UUIDField(null=True)  # the one that runs now
    needs_reset = models.CharField(max_length=200, blank=True)  # why, where only a person can go on
    needs_reset_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "fleet_robot"
        constraints = [models.UniqueConstraint(fields=["site", "name"], name="fleet_robot_name_once")]
        indexes = [models.Index(fields=["site", "-id"], name="fleet_robot_site")]

    def __str__(self) -> str:
        return self.name


class RobotReport(models.Model):
    """What a robot last said of itself. No fact: every two seconds the newest replaces it, and losing it loses nothing."""

    robot = models.OneToOneField(Robot, on_delete=models.CASCADE, primary_key=True, related_name="report")
    boot = models.UUIDField()
    sequence = models.BigIntegerField()
    device_ms = models.BigIntegerField()
    received_at = models.DateTimeField()
    mode = models.CharField(max_length=20)
    body = models.JSONField(default=dict)

    class Meta:
        db_table = "fleet_robot_report"

    def __str__(self) -> str:
        return f"{self.robot_id} {self.mode}"


class Episode(models.Model):
    """One attempt of a robot at a task. `outcome` is empty while it runs."""

    id = models.UUIDField(primary_key=True, editable=False)  # the bridge's own
    site = models.ForeignKey("accounts.Site", on_delete=models.PROTECT, related_name="+")
    robot = models.ForeignKey(Robot, on_delete=models.PROTECT, related_name="+")
    bridge = models.ForeignKey(Bridge, on_delete=models.PROTECT, related_name="+")
    boot = models.UUIDField()
    task = models.CharField(max_length=100)
    driver = models.CharField(max_length=100)
    skill = models.CharField(max_length=200, blank=True)
    seed = models.BigIntegerField(default=0)
    started_at = models.DateTimeField()
    device_ms = models.BigIntegerField()
    ended_at = models.DateTimeField(null=True)
    ended_device_ms = models.BigIntegerField(null=True)
    outcome = models.CharField(max_length=20, blank=True)
    steps = models.BigIntegerField(default=0)
    reason = models.CharField(max_length=200, blank=True)
    is_superseded = models.BooleanField(default=False)  # ended by the next one; its own word may still come
    refusal = models.CharField(max_length=200, blank=True)  # the last action that the bridge refused in it

    class Meta:
        db_table = "fleet_episode"
        indexes = [
            models.Index(fields=["site", "-started_at", "-id"], name="fleet_episode_site"),
            models.Index(fields=["robot", "-started_at", "-id"], name="fleet_episode_robot"),
        ]

    def __str__(self) -> str:
        return f"{self.task} {self.outcome or 'running'}"


class Order(models.Model):
    """Something a person asked of one robot. Nothing is queued: it is carried out before `valid_until` or never."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    site = models.ForeignKey("accounts.Site", on_delete=models.PROTECT, related_name="+")
    robot = models.ForeignKey(Robot, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=50)
    arguments = models.JSONField(default=dict)
    placed_by = models.UUIDField(null=True)
    placed_at = models.DateTimeField()
    valid_until = models.DateTimeField()
    done_at = models.DateTimeField(null=True)
    succeeded = models.BooleanField(null=True)
    detail = models.CharField(max_length=200, blank=True)

    class Meta:
        db_table = "fleet_order"
        indexes = [
            models.Index(fields=["robot", "valid_until"], condition=models.Q(done_at=None), name="fleet_order_open"),
            models.Index(fields=["site", "-id"], name="fleet_order_site"),
        ]

    def __str__(self) -> str:
        return f"{self.name} to {self.robot_id}"


class GatewayNode(models.Model):
    """One gateway process by name, and when it last said that it lives. No fact."""

    name = models.CharField(primary_key=True, max_length=100)
    seen_at = models.DateTimeField()

    class Meta:
        db_table = "fleet_gateway"

    def __str__(self) -> str:
        return self.name
