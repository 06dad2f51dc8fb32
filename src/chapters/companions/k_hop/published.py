"""Published errors of the source's own trained networks: Sanford, Hsu and Telgarsky (2024).

Shares of wrong answers after 100,000 steps, rounded to three decimals, from `local/errors.json` of
github.com/chsanford/hop-induction-heads at commit fe393eb (networks that saw fresh data in each
step). They were trained on a mixture of 0 to 16 hops over texts of 100 letters from an alphabet of
four; each number comes from 100 texts. Width 128 with four heads, 256 with eight.
"""

from collections.abc import Mapping, Sequence

Errors = Mapping[int, Sequence[float]]  # depth: errors for 1 .. 16 hops

ERRORS: Mapping[int, Errors] = {  # heads: depth: errors
    4: {
        2: (.010, .140, .346, .423, .543, .588, .616, .658,
            .691, .692, .710, .720, .726, .730, .738, .737),
        3: (.003, .008, .048, .150, .277, .359, .422, .456,
            .523, .574, .596, .644, .673, .672, .690, .706),
        4: (.001, .003, .005, .015, .034, .062, .109, .216,
            .278, .359, .395, .467, .530, .533, .579, .612),
        5: (.001, .001, .001, .003, .012, .015, .017, .037,
            .058, .103, .148, .218, .280, .339, .376, .414),
        6: (.000, .000, .001, .002, .003, .003, .007, .006,
            .007, .010, .011, .012, .021, .027, .035, .062),
    },
    8: {
        2: (.003, .033, .140, .267, .371, .449, .513, .558,
            .598, .627, .667, .694, .717, .709, .727, .729),
        3: (.001, .001, .005, .021, .058, .121, .182, .247,
            .300, .369, .419, .456, .523, .528, .578, .591),
        4: (.000, .000, .000, .001, .003, .004, .007, .015,
            .031, .057, .098, .139, .209, .231, .303, .334),
        5: (.000, .000, .000, .000, .000, .000, .001, .000,
            .001, .001, .002, .003, .003, .012, .014, .027),
        6: (.000, .000, .000, .000, .000, .000, .000, .000,
            .000, .000, .000, .002, .001, .001, .001, .002),
    },
}  # fmt: skip
TESTED = 16  # the greatest k


def greatest_hops(errors: Errors, level: float = 0.1) -> dict[int, int]:
    """By depth, the greatest k up to which all errors are below `level`; at most 16, the tested."""
    return {
        depth: next((k for k, error in enumerate(row) if error >= level), len(row))
        for depth, row in errors.items()
    }
