// count-tests FILE: prints "PASSED FAILED" from a JSON report of vitest, and each failed test with the start of its message
// on stderr.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
/** Lines of a message, and characters of a line, that are printed. */
const lines = 6;
const characters = 2_000;
const report = (file, test, message = '') =>
  console.error(
    `FAIL ${relative('.', file)}: ${test}\n${message
      .split('\n')
      .slice(0, lines)
      .map((line) => line.slice(0, characters))
      .join('\n')}`,
  );

for (const { name: file, status, message, assertionResults } of testResults) {
  const failed = assertionResults.filter((test) => test.status === 'failed');
  for (const { fullName, failureMessages } of failed) for (const each of failureMessages) report(file, fullName, each);
  // The file could not be loaded.
  if (status === 'failed' && failed.length === 0) report(file, 'no test ran', message);
}
console.log(`${numPassedTests} ${numFailedTests}`);
