// count-tests FILE: of a JSON report of vitest, prints "PASSED FAILED", and on stderr each test that failed with what it says first.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
/** How much of a message tells what is wrong. */
const lines = 6;
const tell = (file, test, message = '') =>
  console.error(`FAIL ${relative('.', file)}: ${test}\n${message.split('\n').slice(0, lines).join('\n')}`);

for (const { name: file, status, message, assertionResults } of testResults) {
  const failed = assertionResults.filter((test) => test.status === 'failed');
  for (const { fullName, failureMessages } of failed) for (const each of failureMessages) tell(file, fullName, each);
  // It could not be loaded.
  if (status === 'failed' && failed.length === 0) tell(file, 'no test of it ran', message);
}
console.log(`${numPassedTests} ${numFailedTests}`);
