// count-tests FILE: prints "PASSED FAILED" from a JSON report of vitest, and each failed test with the start of its message
// on stderr.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
/** Lines of a message, and characters of a line, that are printed. */
const lines = 6;
const characters = 2_000;
/** Characters of two compared values that are printed before and after the place where they begin to differ. */
const [before, after] = [200, 700];

const report = (file, test, message = '') => {
  const shown = atDifference(message)
    .split('\n')
    .filter((line) => !/^\s+at /.test(line))
    .slice(0, lines)
    .map((line) => line.slice(0, characters));
  console.error(`FAIL ${relative('.', file)}: ${test}\n${shown.join('\n')}`);
};

/** Shortens the values of a failed comparison to the place where they begin to differ. */
function atDifference(message) {
  const [, start, actual, word, expected] = /^(.*?expected )(.*)( to (?:deeply |strictly )?equal )(.*)$/s.exec(message) ?? [];
  if (actual === undefined || actual.length + expected.length < characters) return message;
  let same = 0;
  while (same < actual.length && actual[same] === expected[same]) same++;
  const part = (value) => `… ${value.slice(Math.max(0, same - before), same + after)}`;
  return `${start}${part(actual)}${word}${part(expected)}`;
}

for (const { name: file, status, message, assertionResults } of testResults) {
  const failed = assertionResults.filter((test) => test.status === 'failed');
  for (const { fullName, failureMessages } of failed) for (const each of failureMessages) report(file, fullName, each);
  // The file could not be loaded.
  if (status === 'failed' && failed.length === 0) report(file, 'no test ran', message);
}
console.log(`${numPassedTests} ${numFailedTests}`);
