"""The tables of the site. What is bought is written down in full, so that a row says by itself what was done."""

from __future__ import annotations

SCHEMA = """
CREATE TABLE flights (
    number TEXT PRIMARY KEY,
    airline TEXT NOT NULL,
    origin TEXT NOT NULL,
    destination TEXT NOT NULL,
    departs INTEGER NOT NULL,      -- minutes after midnight, where it leaves
    minutes INTEGER NOT NULL,
    arrives INTEGER NOT NULL,      -- minutes after midnight of the day of departure, where it lands
    weekdays TEXT NOT NULL,        -- '1234567' flies daily, 1 is Monday
    aircraft TEXT NOT NULL,
    base_cents INTEGER NOT NULL
);
CREATE INDEX flights_from ON flights (origin);
CREATE INDEX flights_to ON flights (destination);
CREATE TABLE sold_out (            -- cabins without a seat, kind 'vanishing' is found out when one wants to book
    flight TEXT, date TEXT, cabin TEXT, kind TEXT NOT NULL,
    PRIMARY KEY (flight, date, cabin)
) WITHOUT ROWID;
CREATE TABLE users (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    password TEXT NOT NULL,
    name TEXT NOT NULL,
    phone TEXT NOT NULL
);
CREATE TABLE travellers (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL REFERENCES users (id),
    given_name TEXT NOT NULL,
    family_name TEXT NOT NULL,
    birth_date TEXT NOT NULL,
    passport TEXT NOT NULL,
    seat TEXT NOT NULL,            -- preference: '', window, aisle
    meal TEXT NOT NULL
);
CREATE TABLE bookings (
    reference TEXT PRIMARY KEY,
    user_id TEXT REFERENCES users (id),
    status TEXT NOT NULL,          -- confirmed, cancelled
    cabin TEXT NOT NULL,
    fare TEXT NOT NULL,
    travellers INTEGER NOT NULL,
    total_cents INTEGER NOT NULL,  -- paid so far, changes included
    refund_cents INTEGER NOT NULL,
    email TEXT NOT NULL,
    phone TEXT NOT NULL,
    card TEXT NOT NULL,            -- last four digits
    card_token TEXT NOT NULL,      -- stands for the whole card
    booked_at TEXT NOT NULL
);
CREATE TABLE booking_flights (
    reference TEXT NOT NULL REFERENCES bookings (reference),
    position INTEGER NOT NULL,
    direction TEXT NOT NULL,       -- outbound, return
    flight TEXT NOT NULL,
    airline TEXT NOT NULL,
    origin TEXT NOT NULL,
    destination TEXT NOT NULL,
    from_city TEXT NOT NULL,
    to_city TEXT NOT NULL,
    date TEXT NOT NULL,
    departs TEXT NOT NULL,
    arrives TEXT NOT NULL,         -- local date and time
    fare_cents INTEGER NOT NULL,   -- per traveller
    PRIMARY KEY (reference, position)
);
CREATE TABLE booking_travellers (
    reference TEXT NOT NULL REFERENCES bookings (reference),
    number INTEGER NOT NULL,
    given_name TEXT NOT NULL,
    family_name TEXT NOT NULL,
    birth_date TEXT NOT NULL,
    passport TEXT NOT NULL,
    bags INTEGER NOT NULL,         -- bought besides those included
    meal TEXT NOT NULL,
    PRIMARY KEY (reference, number)
);
CREATE TABLE booking_seats (
    reference TEXT NOT NULL REFERENCES bookings (reference),
    position INTEGER NOT NULL,
    traveller INTEGER NOT NULL,
    seat TEXT NOT NULL,
    kind TEXT NOT NULL,            -- window, middle, aisle
    row INTEGER NOT NULL,
    exit_row INTEGER NOT NULL,
    PRIMARY KEY (reference, position, traveller)
);
CREATE TABLE payments (
    id INTEGER PRIMARY KEY,
    reference TEXT NOT NULL REFERENCES bookings (reference),
    kind TEXT NOT NULL,            -- purchase, seat, change, refund
    amount_cents INTEGER NOT NULL,
    card TEXT NOT NULL
);
"""
