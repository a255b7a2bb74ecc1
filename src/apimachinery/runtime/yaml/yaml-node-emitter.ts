import { Float64, isContainer } from '../numbers.ts';
import { analyze, escapeDouble, timestamp } from './yaml-emitter.ts';
import { resolveScalar } from './yaml-scalars.ts';

/**
 * Encodes a JSON value as yaml.v3 encodes nodes without a style: members in their order, four spaces per level, no folded lines.
 * Upstream: gnostic-models/compiler/helpers.go (Marshal), yaml.v3 encode.go and emitterc.go.
 */
export function encodeYamlNode(value: unknown): string {
  return isFull(value) ? block(value, 0) : scalar(value, 4);
}

function isFull(value: unknown): value is object {
  return isContainer(value) && Object.keys(value).length > 0;
}

/** Returns a list or map whose lines have the indent `own`; the first one is at the cursor. */
function block(value: object, own: number): string {
  const spaces = ' '.repeat(own);
  if (Array.isArray(value)) {
    // Within a list, the first indent only skips the indicator.
    const items = value.map((item: unknown) => `- ${isFull(item) ? block(item, own + 2) : scalar(item, own + 2)}`);
    return items.join(spaces);
  }
  const below = own - (own % 4) + 4;
  const members = Object.entries(value).map(([key, member]) => {
    const text = isFull(member) ? `\n${' '.repeat(below)}${block(member, below)}` : ` ${scalar(member, below)}`;
    return `${oneLine(key)}:${text}`;
  });
  return members.join(spaces);
}

function scalar(value: unknown, indent: number): string {
  if (typeof value === 'string')
    return `${value.includes('\n') && analyze(value).blockAllowed ? literal(value, indent) : oneLine(value)}\n`;
  if (isContainer(value)) return Array.isArray(value) ? '[]\n' : '{}\n';
  return `${value instanceof Float64 ? value.literal : String(value)}\n`;
}

/** Returns a literal block without its last line break. */
function literal(text: string, indent: number): string {
  const hint = /^[ \n]/.test(text) ? '4' : '';
  const chomping = text.endsWith('\n') ? (text === '\n' || text.endsWith('\n\n') ? '+' : '') : '-';
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
  return `|${hint}${chomping}${lines.map((line) => (line === '' ? '\n' : `\n${' '.repeat(indent)}${line}`)).join('')}`;
}

/** Words that are booleans in YAML 1.1 only. */
const oldBoolean = /^(?:y|n|yes|no|on|off)$/i;

function isTextInYaml(text: string): boolean {
  return (typeof resolveScalar(text) === 'string' || oldBoolean.test(text)) && !timestamp.test(text);
}

function oneLine(text: string): string {
  const { plainAllowed, singleQuotedAllowed } = analyze(text);
  if (isTextInYaml(text) && !text.includes('\n')) {
    if (plainAllowed) return text;
    if (singleQuotedAllowed) return `'${text.replaceAll("'", "''")}'`;
  }
  return `"${Array.from(text, escapeDouble).join('')}"`;
}
