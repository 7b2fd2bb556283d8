// SPDX-License-Identifier: GPL-2.0
/*
 * A C++ program, whose names are long and mangled. The guest's is stripped, and has
 * no names at all; its twin on the host, guest/unstripped/cxx, has the same build-id.
 *
 * Usage: cxx     (until SIGTERM)
 */
#include <utility>
#include <vector>

#include "lib/workload.h"

namespace mix {

template <typename T>
class Mixer {
public:
	__attribute__((noipa)) void spin(int rounds)
	{
		for (int i = 0; i < rounds; i++)
			state = state * 3 + static_cast<T>(i);
	}

private:
	volatile T state = 1;
};

namespace detail {

template <typename First, typename Second>
__attribute__((noipa)) Second fold(const std::vector<std::pair<First, Second>> &pairs)
{
	Second sum = 0;

	for (int round = 0; round < 40; round++)
		for (const auto &pair : pairs)
			sum = sum * 5 + static_cast<Second>(pair.first) + pair.second;
	return sum;
}

} // namespace detail
} // namespace mix

int main(int, char **argv)
{
	std::vector<std::pair<char, long>> pairs(256, {'x', 1});
	mix::Mixer<int> integers;
	mix::Mixer<double> doubles;
	volatile long sink;

	workload_ready(argv[0]);
	for (;;) {
		integers.spin(20000);
		doubles.spin(5000);
		sink = mix::detail::fold(pairs);
		(void)sink;
	}
}
