import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';
import { ServerLog } from './server-log.ts';

/** Lines of the servers' log that are shown with a test file that fails. */
const shownLines = 60;
const shownSlowest = 10;

/**
 * A reporter for use beside another one. It hides the output of servers under test, shows its end with a test file that fails,
 * and ends the run with one summary: passed, failed, skipped with their reasons, the slowest tests.
 */
export default class SummaryReporter implements Reporter {
  readonly #log = new ServerLog();
  readonly #started = new Map<string, number>();
  #output: NodeJS.WritableStream = process.stdout;

  onInit(vitest: Vitest): void {
    this.#output = vitest.logger.outputStream;
    // The pool pipes the output of each worker to these streams. Reporters that began before this one keep theirs.
    vitest.logger.outputStream = this.#log;
    vitest.logger.errorStream = this.#log;
  }

  onTestModuleStart({ id }: TestModule): void {
    this.#started.set(id, performance.now());
  }

  onTestModuleEnd(module: TestModule): void {
    if (module.ok()) return;
    const lines = this.#log.linesSince(this.#started.get(module.id) ?? 0, shownLines);
    if (lines.length > 0) this.#write([`Log of the servers during ${nameOf(module)}, the last ${lines.length} lines:`, ...lines]);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    this.#write(summaryOf(tests));
  }

  #write(lines: readonly string[]): void {
    this.#output.write(`\n${lines.join('\n')}\n`);
  }
}

/** Returns the lines of the summary; each list is empty if there is nothing to list. */
export function summaryOf(tests: readonly TestCase[]): string[] {
  const inState = (state: string): TestCase[] => tests.filter((test) => test.result().state === state);
  const failed = inState('failed');
  const skipped = inState('skipped');
  const slowest = tests.toSorted((a, b) => durationOf(b) - durationOf(a)).slice(0, shownSlowest);
  return [
    `${inState('passed').length} passed, ${failed.length} failed, ${skipped.length} skipped`,
    ...section('Failed', failed.map(titleOf)),
    ...section('Skipped', reasonsOf(skipped)),
    ...section(
      `The ${slowest.length} slowest`,
      slowest.map((test) => `${(durationOf(test) / 1_000).toFixed(1).padStart(6)} s  ${titleOf(test)}`),
    ),
  ];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
}

/** The reasons of skipped tests, each with the number of its tests. */
function reasonsOf(skipped: readonly TestCase[]): string[] {
  const counts = new Map<string, number>();
  for (const test of skipped) {
    const result = test.result();
    const reason = (result.state === 'skipped' && result.note) || `no reason given: ${titleOf(test)}`;
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, count]) => `${count}  ${reason}`);
}

function durationOf(test: TestCase): number {
  return test.diagnostic()?.duration ?? 0;
}

function titleOf(test: TestCase): string {
  return `${nameOf(test.module)}: ${test.fullName}`;
}

function nameOf({ moduleId }: TestModule): string {
  return relative(process.cwd(), moduleId);
}
