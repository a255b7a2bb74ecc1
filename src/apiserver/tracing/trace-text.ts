import type { JsonPatchOperation } from '#apimachinery/patch/create-patch';
import type { TraceDocument, TraceNote, TraceStage, TraceStep } from '#apiserver/request/request-trace';

/** A line with its children. */
interface Branch {
  readonly line: string;
  readonly below?: readonly Branch[];
}

const titles: Readonly<Record<TraceStage, string>> = {
  authentication: 'Authentication',
  authorization: 'Authorization',
  admit: 'Mutating admission',
  validate: 'Validating admission',
  trigger: 'Triggers',
  request: 'Requests',
};
const longestValue = 100;

/**
 * Formats a trace as a tree that fits on a screen: steps that changed or decided something in full, the others by name.
 *
 *     POST /api/v1/namespaces/default/pods by ali: 403 pods "web" is forbidden: missing labels: team
 *     ├─ Authentication
 *     │  └─ TokenAuth: knows the user ali (0.021 ms)
 */
export function traceText(trace: TraceDocument): string {
  const { method, url, user, impersonator, status, message } = trace;
  const who = `${user?.name ?? 'nobody'}${impersonator ? `, impersonated by ${impersonator.name}` : ''}`;
  const title = `${method} ${url} by ${who}: ${status || 'no response yet'}${message && ` ${message}`}`;
  const stages = (Object.keys(titles) as TraceStage[]).flatMap((stage) => branchOf(stage, trace.steps));
  const warnings = trace.warnings.map((text): Branch => ({ line: `warning: ${text}` }));
  const end = { line: `${trace.milliseconds} ms in total; ${trace.receivedAt}, trace ${trace.id}` };
  return [printable(title), ...drawn([...stages, ...warnings, end], '')].join('\n');
}

function branchOf(stage: TraceStage, all: readonly TraceStep[]): Branch[] {
  const steps = all.filter((step) => step.stage === stage);
  if (steps.length === 0) return [];
  const effective = steps.filter(hasEffect);
  const others = steps.filter((step) => !hasEffect(step)).map(({ name }) => name);
  const rest = others.length > 0 ? [{ line: `no effect: ${[...new Set(others)].join(', ')}` }] : [];
  return [{ line: titles[stage], below: [...effective.map(stepBranch), ...rest] }];
}

/** True if the step had an effect. */
function hasEffect({ verdict, notes }: TraceStep): boolean {
  return notes !== undefined || (verdict !== 'admitted' && verdict !== 'no opinion' && verdict !== 'NoOpinion');
}

function stepBranch({ name, verdict, reason, milliseconds, patch = [], notes = [] }: TraceStep): Branch {
  return {
    line: `${name}: ${verdict}${reason ? `: ${reason}` : ''} (${milliseconds} ms)`,
    below: [...noteBranches(notes), ...patch.map((operation) => ({ line: patchLine(operation) }))],
  };
}

/** Combines the policies that hold into one line, because there may be hundreds. */
function noteBranches(notes: readonly TraceNote[]): Branch[] {
  const holding = notes.filter(({ kind, verdict }) => kind === 'policy' && verdict === 'holds').map(({ name }) => name);
  const others = notes.filter(({ kind, verdict }) => kind !== 'policy' || verdict !== 'holds').map(noteBranch);
  return holding.length > 0 ? [...others, { line: `satisfied: ${holding.join(', ')}` }] : others;
}

function noteBranch({ kind, name, verdict, reason, milliseconds, details = {} }: TraceNote): Branch {
  const time = milliseconds === undefined ? '' : ` (${milliseconds} ms)`;
  return {
    line: `${kind} ${name}${verdict ? `: ${verdict}` : ''}${reason ? `: ${reason}` : ''}${time}`,
    below: Object.entries(details).map(([key, value]) => ({ line: `${key} = ${shortened(value)}` })),
  };
}

const signs: Readonly<Record<JsonPatchOperation['op'], string>> = { add: '+', remove: '-', replace: '~' };

function patchLine({ op, path, value }: JsonPatchOperation): string {
  return `${signs[op]} ${path}${op === 'remove' ? '' : ` = ${shortened(value)}`}`;
}

function shortened(value: unknown): string {
  const text = typeof value === 'bigint' ? String(value) : (JSON.stringify(value, (_, part: unknown) => plain(part)) ?? 'undefined');
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text;
}

/** Converts a bigint to text for JSON. */
export function plain(value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function drawn(branches: readonly Branch[], indent: string): string[] {
  return branches.flatMap(({ line, below = [] }, i) => {
    const isLast = i === branches.length - 1;
    return [`${indent}${isLast ? '└─' : '├─'} ${printable(line)}`, ...drawn(below, `${indent}${isLast ? '   ' : '│  '}`)];
  });
}

/** Replaces control characters by spaces, because webhooks and users control parts of the text. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}
