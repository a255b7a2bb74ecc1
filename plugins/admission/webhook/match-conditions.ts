import { type Attributes, newForbidden } from 'kubenest/sdk';
import type { Invocation } from './hook.ts';

/** Whether the conditions of a webhook hold for a request. Throws Forbidden where that cannot be told and the webhook fails closed. */
export function areConditionsMet({ hook }: Invocation, request: Attributes): boolean | Promise<boolean> {
  const { matchConditions = [], failurePolicy, name } = hook.spec;
  if (matchConditions.length === 0) return true;
  if (failurePolicy === 'Ignore') return false;
  throw newForbidden(request.resource, request.name, `matchConditions of webhook ${JSON.stringify(name)} are not implemented yet`);
}
