"""What the site sells and has sold, for whoever writes tasks about it: the functions that its pages use."""

from __future__ import annotations

from agent_envs.envs.web.sites.flights._bookings import (
    BookedLeg,
    Booking,
    Purchase,
    Traveller,
    bookings_of,
    change_cost,
    seat_change_cost,
)
from agent_envs.envs.web.sites.flights._departures import DAYS, Leg, Market, Seat, find_seat, seats_of
from agent_envs.envs.web.sites.flights._fares import CABINS, FARES, MEALS, Fare, fare_cents, fare_of, money, seat_cents
from agent_envs.envs.web.sites.flights._places import AIRLINES, AIRPORTS, CITIES, airports_of
from agent_envs.envs.web.sites.flights._search import Itinerary, find_itinerary, itineraries
from agent_envs.envs.web.sites.flights._search_pages import PAGE, lowest_prices
from agent_envs.envs.web.sites.flights._trip_pages import alternatives
from agent_envs.envs.web.sites.flights._words import long_day, seat_name, short_day
from agent_envs.envs.web.sites.flights._world import USERS

__all__ = [
    "AIRLINES",
    "AIRPORTS",
    "CABINS",
    "CITIES",
    "DAYS",
    "FARES",
    "MEALS",
    "PAGE",
    "USERS",
    "BookedLeg",
    "Booking",
    "Fare",
    "Itinerary",
    "Leg",
    "Market",
    "Purchase",
    "Seat",
    "Traveller",
    "airports_of",
    "alternatives",
    "bookings_of",
    "change_cost",
    "fare_cents",
    "fare_of",
    "find_itinerary",
    "find_seat",
    "itineraries",
    "long_day",
    "lowest_prices",
    "money",
    "seat_cents",
    "seat_change_cost",
    "seat_name",
    "seats_of",
    "short_day",
]
