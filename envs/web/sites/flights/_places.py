"""Where one can fly, and with whom: real cities and airports, invented airlines, three invented aircraft."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import asin, cos, radians, sin, sqrt
from types import MappingProxyType

_AIRPORTS = """
PEK|Beijing|Capital|China|8|40.1|116.6|9
PKX|Beijing|Daxing|China|8|39.5|116.4|7
PVG|Shanghai|Pudong|China|8|31.1|121.8|9
SHA|Shanghai|Hongqiao|China|8|31.2|121.3|8
CAN|Guangzhou|Baiyun|China|8|23.4|113.3|8
SZX|Shenzhen|Bao'an|China|8|22.6|113.8|7
CTU|Chengdu|Shuangliu|China|8|30.6|103.9|7
CKG|Chongqing|Jiangbei|China|8|29.7|106.6|5
XIY|Xi'an|Xianyang|China|8|34.4|108.8|5
HGH|Hangzhou|Xiaoshan|China|8|30.2|120.4|5
KMG|Kunming|Changshui|China|8|25.1|102.9|4
XMN|Xiamen|Gaoqi|China|8|24.5|118.1|3
HRB|Harbin|Taiping|China|8|45.6|126.3|2
LXA|Lhasa|Gonggar|China|8|29.3|90.9|1
URC|Urumqi|Diwopu|China|8|43.9|87.5|2
HKG|Hong Kong|International|Hong Kong|8|22.3|113.9|8
TPE|Taipei|Taoyuan|Taiwan|8|25.1|121.2|5
HND|Tokyo|Haneda|Japan|9|35.6|139.8|9
NRT|Tokyo|Narita|Japan|9|35.8|140.4|7
KIX|Osaka|Kansai|Japan|9|34.4|135.2|5
ICN|Seoul|Incheon|South Korea|9|37.5|126.5|8
SIN|Singapore|Changi|Singapore|8|1.4|104.0|8
BKK|Bangkok|Suvarnabhumi|Thailand|7|13.7|100.7|7
KUL|Kuala Lumpur|International|Malaysia|8|2.7|101.7|5
DPS|Denpasar|Ngurah Rai|Indonesia|8|-8.7|115.2|3
DEL|Delhi|Indira Gandhi|India|5.5|28.6|77.1|7
BOM|Mumbai|Shivaji|India|5.5|19.1|72.9|5
DXB|Dubai|International|United Arab Emirates|4|25.3|55.4|9
IST|Istanbul|Grand|Turkey|3|41.3|28.7|8
CAI|Cairo|International|Egypt|2|30.1|31.4|4
NBO|Nairobi|Jomo Kenyatta|Kenya|3|-1.3|36.9|3
CPT|Cape Town|International|South Africa|2|-34.0|18.6|3
LHR|London|Heathrow|United Kingdom|0|51.5|-0.5|9
LGW|London|Gatwick|United Kingdom|0|51.2|-0.2|5
CDG|Paris|Charles de Gaulle|France|1|49.0|2.5|8
FRA|Frankfurt|Main|Germany|1|50.0|8.6|8
AMS|Amsterdam|Schiphol|Netherlands|1|52.3|4.8|6
MAD|Madrid|Barajas|Spain|1|40.5|-3.6|5
FCO|Rome|Fiumicino|Italy|1|41.8|12.3|5
CPH|Copenhagen|Kastrup|Denmark|1|55.6|12.7|3
KEF|Reykjavik|Keflavik|Iceland|0|64.0|-22.6|1
JFK|New York|Kennedy|United States|-5|40.6|-73.8|9
EWR|New York|Newark|United States|-5|40.7|-74.2|6
ORD|Chicago|O'Hare|United States|-6|42.0|-87.9|6
SFO|San Francisco|International|United States|-8|37.6|-122.4|7
LAX|Los Angeles|International|United States|-8|33.9|-118.4|8
YVR|Vancouver|International|Canada|-8|49.2|-123.2|4
GRU|Sao Paulo|Guarulhos|Brazil|-3|-23.4|-46.5|4
SYD|Sydney|Kingsford Smith|Australia|10|-33.9|151.2|6
AKL|Auckland|International|New Zealand|12|-37.0|174.8|2
"""

_AIRLINES = """
JW|Jadewing|PEK PKX XIY URC HRB LXA|1.06
LP|Lotus Pacific|HKG CAN SZX XMN TPE|1.1
RL|Red Lantern Air|PVG SHA CTU CKG KMG HGH|0.86
PS|Pearl Shuttle|PEK PKX PVG SHA CAN SZX|0.97
HN|Hanami Airways|HND NRT KIX|1.12
HB|Hanbit Air|ICN|1.0
ST|Straits Air|SIN KUL DPS|1.08
MS|Monsoon Air|DEL BOM BKK|0.88
LS|Levant Sky|DXB CAI NBO|1.05
BO|Bosphor Air|IST|0.94
AL|Albion Airways|LHR LGW CPT KEF|1.14
RA|Rhine Air|FRA AMS CPH|1.07
SL|Sol Libre|MAD FCO CDG|0.84
GL|Great Lakes Air|JFK EWR ORD GRU|1.02
PC|Pacific Crest|SFO LAX YVR|1.0
TA|Tasman Air|SYD AKL|1.03
"""


@dataclass(frozen=True, slots=True)
class Airport:
    """An airport and the city that it serves."""

    code: str
    city: str
    name: str
    country: str
    offset: int
    """Minutes ahead of UTC, all year."""
    latitude: float
    longitude: float
    size: int
    """From 1 to 9: how much is flown there."""

    @property
    def label(self) -> str:
        """What a form shows: `Beijing Capital (PEK)`."""
        return f"{self.city} {self.name} ({self.code})"


@dataclass(frozen=True, slots=True)
class Airline:
    """A company that nobody has flown with."""

    code: str
    name: str
    homes: tuple[str, ...]
    price: float


@dataclass(frozen=True, slots=True)
class Cabin:
    """The part of an aircraft that one class sits in."""

    rows: range
    letters: str
    """The seats of a row from left to right; a blank is an aisle."""
    exits: tuple[int, ...] = ()

    @property
    def seats(self) -> int:
        """How many there are."""
        return len(self.rows) * len(self.letters.replace(" ", ""))


def _airports() -> dict[str, Airport]:
    found = {}
    for line in _AIRPORTS.split("\n"):
        if line:
            code, city, name, country, offset, latitude, longitude, size = line.split("|")
            place = (int(float(offset) * 60), float(latitude), float(longitude), int(size))
            found[code] = Airport(code, city, name, country, *place)
    return found


def _airlines() -> dict[str, Airline]:
    rows = (line.split("|") for line in _AIRLINES.split("\n") if line)
    return {code: Airline(code, name, tuple(homes.split()), float(price)) for code, name, homes, price in rows}


AIRPORTS = MappingProxyType(_airports())
AIRLINES = MappingProxyType(_airlines())
CITIES = tuple(sorted({airport.city for airport in AIRPORTS.values()}))
AIRCRAFT = MappingProxyType(
    {
        "Wren 90": {"business": Cabin(range(1, 4), "AC DF"), "economy": Cabin(range(4, 20), "AC DF", (9,))},
        "Kite 180": {"business": Cabin(range(1, 5), "AC DF"), "economy": Cabin(range(5, 28), "ABC DEF", (12, 13))},
        "Heron 260": {
            "business": Cabin(range(1, 8), "A DG K"),
            "premium": Cabin(range(9, 13), "AC DEG HK"),
            "economy": Cabin(range(20, 38), "ABC DEG HJK", (20, 30)),
        },
    }
)
"""Every aircraft by name, with its cabins from front to back."""


@lru_cache(maxsize=4096)
def kilometres(one: str, other: str) -> float:
    """The distance between two airports along the globe."""
    a, b = AIRPORTS[one], AIRPORTS[other]
    north, east = radians(b.latitude - a.latitude) / 2, radians(b.longitude - a.longitude) / 2
    part = sin(north) ** 2 + cos(radians(a.latitude)) * cos(radians(b.latitude)) * sin(east) ** 2
    return 12742 * asin(sqrt(part))


def airports_of(text: str) -> tuple[str, ...]:
    """The airports that a traveller's words mean: a city, a code, or what the suggestions write; none if unknown."""
    return _MEANINGS.get(" ".join(text.split()).casefold(), ())


def _meanings() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for code, airport in AIRPORTS.items():
        for words in (code, airport.label, f"{airport.city} ({code})", f"{airport.city} {airport.name}"):
            found[words.casefold()] = (code,)
        found[airport.city.casefold()] = (*found.get(airport.city.casefold(), ()), code)
    return found


_MEANINGS = MappingProxyType(_meanings())
SUGGESTIONS = tuple(sorted([*CITIES, *(one.label for one in AIRPORTS.values() if len(airports_of(one.city)) > 1)]))
"""What the search form offers while one types: cities, and airports where a city has several."""
