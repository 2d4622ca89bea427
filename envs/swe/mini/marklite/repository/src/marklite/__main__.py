"""`python -m marklite`."""

import sys

from marklite.cli import main

sys.exit(main())
