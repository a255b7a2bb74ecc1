import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { errorMessage } from '#apiserver/base/system-error';
import { failsWith2 } from '#cmd/commands/verdict-exit';
import type { PolicyTestResult } from './run-policy-tests.ts';

interface Flags {
  readonly config?: string;
  readonly run?: string;
  readonly junit?: string;
  readonly trace: boolean;
}

/**
 * Adds `kubenest test`, which plays requests of test files through a server in this process. `exitWith` receives the exit code: 0 if all
 * tests pass, otherwise 1. Errors exit with 2.
 */
export function addTestCommand(program: Command, exitWith: (code: number) => void): void {
  const command = failsWith2(program.command('test'))
    .description(
      'test plugins, CEL policies and webhooks by files of kind PolicyTest. Exits with 0 if all tests pass, with 1 if one fails, with 2 on an error.',
    )
    .argument('<path...>', 'files and folders of tests')
    .option('--config <file>', 'file of kind ServerConfiguration for test files without config and plugins')
    .option('--run <pattern>', 'run only the tests whose name matches a regular expression')
    .option('--junit <file>', "write a report in JUnit's XML")
    .option('--trace', 'show the trace of each failed test', false);
  command.action(async (paths: readonly string[]) => {
    const { config, run, junit, trace } = command.opts<Flags>();
    const began = new Date();
    try {
      const pattern = run === undefined ? undefined : new RegExp(run);
      const results = await runAndReport(paths, { config, pattern, hasTrace: trace });
      const { hasPassed, summaryLine } = await import('./report.ts');
      console.log(`\n${summaryLine(results)}`);
      if (junit !== undefined) await writeFile(junit, (await import('./junit.ts')).junitReport(results, began));
      exitWith(results.every(hasPassed) ? 0 : 1);
    } catch (error) {
      command.error(`kubenest test: ${errorMessage(error)}`);
    }
  });
}

interface ReportOptions {
  readonly config: string | undefined;
  readonly pattern: RegExp | undefined;
  readonly hasTrace: boolean;
}

/** Runs the tests and prints each result. Rejects if no test is selected. */
async function runAndReport(paths: readonly string[], { config, pattern, hasTrace }: ReportOptions): Promise<PolicyTestResult[]> {
  const [{ readPolicyTests }, { runPolicyTests }, { resultLines }] = await Promise.all([
    import('./read-policy-tests.ts'),
    import('./run-policy-tests.ts'),
    import('./report.ts'),
  ]);
  const files = await readPolicyTests(paths);
  const results: PolicyTestResult[] = [];
  const isSelected = pattern && (({ name }: { readonly name: string }) => pattern.test(name));
  for await (const result of runPolicyTests(files, { config, isSelected })) {
    if (results.at(-1)?.file !== result.file) console.log(result.file.file);
    results.push(result);
    console.log(resultLines(result, hasTrace).join('\n'));
  }
  if (results.length === 0) throw new Error(`no test has a name that matches ${String(pattern)}`);
  return results;
}
