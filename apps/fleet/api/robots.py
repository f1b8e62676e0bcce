"""Robots of a site, and what may be asked of them."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.fleet import selectors, services
from apps.fleet.serializers import FaultInject, OrderRow, RobotCreate, RobotDetailRow, RobotMade, RobotPage, RobotRow
from apps.fleet.types import CLEAR, FAULTS, INJECT, RESET
from apps.kernel.access import access
from apps.kernel.api import Endpoint, only, row, rows
from apps.kernel.errors import NotFound
from apps.kernel.serializers import Nothing


@access(GET="fleet.view", POST="fleet.register_robot")
class RobotList(Endpoint):
    """Robots of a site."""

    @extend_schema(responses=RobotPage, parameters=selectors.ROBOTS.described(), operation_id="list_robots")
    def get(self, request: Request, site_slug: str) -> Response:
        """Robots, those that need a person first."""
        return rows(RobotRow, selectors.robots_page(self.site.id, request.query_params))

    @extend_schema(request=RobotCreate, responses={201: RobotMade}, operation_id="register_robot")
    def post(self, request: Request, site_slug: str) -> Response:
        """Register a robot, so that a machine credential can be bound to it."""
        body = self.body(RobotCreate)
        made = services.register_robot(actor=self.actor, site_id=self.site.id, idempotency_key=self.key(), **body)
        return row(RobotMade, made, status=201, version=made.version)


@access(GET="fleet.view")
class RobotDetail(Endpoint):
    """One robot."""

    @extend_schema(responses=RobotDetailRow, operation_id="get_robot")
    def get(self, request: Request, site_slug: str, robot_id: UUID) -> Response:
        """What it does and did, and who speaks for it."""
        only(request)
        found = selectors.robot_detail(self.site.id, robot_id)
        return row(RobotDetailRow, found, version=found.version)


@access(DELETE="fleet.register_robot")
class RobotBridge(Endpoint):
    """The bridge that speaks for one robot."""

    @extend_schema(request=None, responses={200: RobotMade}, operation_id="release_robot")
    def delete(self, request: Request, site_slug: str, robot_id: UUID) -> Response:
        """Release the robot: the next bridge that claims it gets it."""
        self.body(Nothing)
        found = services.release_robot(
            actor=self.actor,
            site_id=self.site.id,
            robot_id=robot_id,
            expected=self.expected(),
            idempotency_key=self.key(),
        )
        return row(RobotMade, found, version=found.version)


@access(POST="fleet.reset_scene")
class RobotReset(Endpoint):
    """Resets of one robot's scene."""

    @extend_schema(request=None, responses={202: OrderRow}, operation_id="reset_scene")
    def post(self, request: Request, site_slug: str, robot_id: UUID) -> Response:
        """Ask a connected robot to reset its scene, at once or never."""
        self.body(Nothing)
        made = services.place_order(
            actor=self.actor, site_id=self.site.id, robot_id=robot_id, name=RESET, idempotency_key=self.key()
        )
        return row(OrderRow, made, status=202)


@access(POST="fleet.inject_fault")
class RobotFaults(Endpoint):
    """Injected faults of one simulated robot."""

    @extend_schema(request=FaultInject, responses={202: OrderRow}, operation_id="inject_fault")
    def post(self, request: Request, site_slug: str, robot_id: UUID) -> Response:
        """Make a simulated robot fail on purpose."""
        body = self.body(FaultInject)
        made = services.place_order(
            actor=self.actor,
            site_id=self.site.id,
            robot_id=robot_id,
            name=INJECT,
            arguments=body,
            idempotency_key=self.key(),
        )
        return row(OrderRow, made, status=202)


@access(DELETE="fleet.inject_fault")
class RobotFault(Endpoint):
    """One injected fault."""

    @extend_schema(request=None, responses={202: OrderRow}, operation_id="clear_fault")
    def delete(self, request: Request, site_slug: str, robot_id: UUID, fault: str) -> Response:
        """Clear the fault; `all` clears every one."""
        self.body(Nothing)
        if fault not in {*FAULTS, "all"}:
            raise NotFound("There is nothing here.")
        made = services.place_order(
            actor=self.actor,
            site_id=self.site.id,
            robot_id=robot_id,
            name=CLEAR,
            arguments={"name": fault},
            idempotency_key=self.key(),
        )
        return row(OrderRow, made, status=202)


@access(GET="fleet.view")
class OrderDetail(Endpoint):
    """One order."""

    @extend_schema(responses=OrderRow, operation_id="get_order")
    def get(self, request: Request, site_slug: str, order_id: UUID) -> Response:
        """What was asked of a robot, and what became of it."""
        only(request)
        return row(OrderRow, selectors.order_of_site(self.site.id, order_id))
