import { traceText } from '#apiserver/tracing/trace-text';
import type { Explanation } from './explain.ts';

/** Returns the trace of a request as a tree; with `hasDiff`, followed by the changes of the object. */
export function explanationText({ trace, result, diff }: Explanation, hasDiff: boolean): string {
  const tree = traceText(trace);
  if (!hasDiff || !result) return tree;
  return [tree, ...(diff.length > 0 ? diff : ['the object would be stored as sent'])].join('\n');
}
