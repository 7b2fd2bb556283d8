// SPDX-License-Identifier: GPL-2.0
// Two functions for Node.js's compiler, until a signal. With --perf-basic-prof it
// says in /tmp/perf-PID.map where it put them.
'use strict';

function nodeMultiply(matrix, n) {
	let sum = 0;

	for (let round = 0; round < 20; round++)
		for (let i = 0; i < n; i++)
			for (let j = 0; j < n; j++)
				sum = (sum + matrix[i * n + j] * matrix[j * n + i]) % 1000003;
	return sum;
}

function nodeSieve(flags) {
	let primes = 0;

	flags.fill(1);
	for (let i = 2; i < flags.length; i++) {
		if (!flags[i])
			continue;
		primes++;
		for (let j = i + i; j < flags.length; j += i)
			flags[j] = 0;
	}
	return primes;
}

const N = 100;
const matrix = Int32Array.from({ length: N * N }, (_, i) => i % 97);
const flags = new Uint8Array(100000);
let sink = 0;

// Compiled before it says so.
for (let i = 0; i < 20; i++)
	sink += nodeMultiply(matrix, N) + nodeSieve(flags);
require('fs').writeSync(1, 'ready\n');
for (;;)
	sink += nodeMultiply(matrix, N) + nodeSieve(flags);
