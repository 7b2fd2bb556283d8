// SPDX-License-Identifier: GPL-2.0
// What today's ClickHouse, as a library (the npm package chdb), makes of the fleet's schema and
// queries as they are in their files, with parameters of its own kind.
//
// usage: node fleet-now.js CHDB SCHEMA ROWS ANSWERS QUERIES
//
// Prints, for each question in ANSWERS, a line "== NAME" and the answer as TSVWithNames.

const fs = require('fs');
const [chdb, schema, rows, answers, queries] = process.argv.slice(2);
const { Session } = require(chdb);
const session = new Session();

function quoted(text) {
	return `'${text.replace(/[\\']/g, '\\$&')}'`;
}

const text = fs.readFileSync(schema, 'utf8').replace(/^\s*--.*$/gm, '');
for (const statement of text.split(';')) {
	if (statement.trim())
		session.query(statement, 'CSV');
}
// Whatever the columns are, but for what the table makes of them itself
const columns = session.query(`SELECT name, type FROM system.columns WHERE database = 'kvm_fleet'
	AND table = 'rows' AND default_kind = '' ORDER BY position`, 'TSVRaw').trim().split('\n')
	.map((line) => line.split('\t'));
const names = columns.map(([name]) => name).join(', ');
const types = columns.map(([name, type]) => `${name} ${type}`).join(', ');
session.query(`INSERT INTO kvm_fleet.rows (${names}) SELECT ${names}
	FROM file(${quoted(rows)}, 'JSONEachRow', ${quoted(types)})`, 'CSV');
console.error(session.query('SELECT version()', 'TSV').trim());
for (const { query, values } of JSON.parse(fs.readFileSync(answers, 'utf8')).questions) {
	const file = `${queries}/${query}.sql`;
	const head = fs.readFileSync(file, 'utf8').matchAll(/^-- {3}([a-z_]+)=(\S*) /gm);
	const defaults = Object.fromEntries([...head].map(([, name, value]) => [name, value]));
	for (const [name, value] of Object.entries({ ...defaults, ...values }))
		session.query(`SET param_${name} = ${quoted(value)}`, 'CSV');
	console.log(`== ${query}`);
	process.stdout.write(session.query(fs.readFileSync(file, 'utf8'), 'TSVWithNames'));
}
session.cleanup();
