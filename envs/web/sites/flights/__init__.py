"""`flights.test`: a flight booking site with a timetable, prices, seats and accounts of its own."""

from __future__ import annotations

from agent_envs.envs.web.sites.flights._site import FLIGHTS, Flights

__all__ = ["FLIGHTS", "Flights"]
