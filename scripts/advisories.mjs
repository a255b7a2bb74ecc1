// Fails if a runtime dependency has a known advisory. The advisories come from the registry: if it provides none or is
// unreachable, the script prints the reason and succeeds.
import { spawnSync } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Interprets the JSON output of `npm audit`. Throws for output that is neither a report nor the error of an unreachable
 * registry; a missing lock file, for example, must not count as an unreachable registry.
 * @param {string} output
 * @returns {{ readonly verdict: 'none' | 'found' | 'unreachable', readonly lines: readonly string[] }}
 */
export function judge(output) {
  const report = parse(output);
  if (isObject(report.vulnerabilities)) {
    const found = Object.values(report.vulnerabilities).flatMap(describe);
    if (found.length === 0) return { verdict: 'none', lines: ['no dependency has a known advisory'] };
    return { verdict: 'found', lines: [...new Set(found)] };
  }
  // npm reports a failed request at the top level; other errors are in `error`.
  if (typeof report.message === 'string')
    return { verdict: 'unreachable', lines: [`not checked: the registry provides no advisories: ${report.message}`] };
  throw new Error(`npm audit failed: ${report.error?.summary || report.error?.code || output.trim()}`);
}

function parse(output) {
  try {
    const report = JSON.parse(output);
    if (isObject(report)) return report;
  } catch {
    // The error below contains the text.
  }
  throw new Error(`npm audit printed no report: ${output.trim() || 'nothing'}`);
}

/** Returns a line for each advisory of a package, or a line with the vulnerable packages that it depends on. */
function describe({ name, severity, range, via }) {
  return via.map((cause) =>
    typeof cause === 'string'
      ? `${name} ${range} (${severity}) depends on ${cause}`
      : `${name} ${cause.range} (${cause.severity}): ${cause.title} ${cause.url}`,
  );
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function audit() {
  const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
  const script = process.env.npm_execpath;
  const [command, first] = script?.endsWith('.js') ? [process.execPath, [script]] : ['npm', []];
  const args = ['audit', '--omit=dev', '--json', '--fetch-retries=1', '--fetch-timeout=30000'];
  const { stdout, error } = spawnSync(command, [...first, ...args], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (error) throw new Error(`cannot run npm: ${error.message}`);
  return judge(stdout);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const { verdict, lines } = audit();
    console.log(lines.map((line) => `advisories: ${line}`).join('\n'));
    process.exitCode = verdict === 'found' ? 1 : 0;
  } catch (error) {
    console.error(`advisories: ${error.message}`);
    process.exitCode = 1;
  }
}
