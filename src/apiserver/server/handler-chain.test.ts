import { describe, expect, it } from 'vitest';
import type { Handler, RequestContext } from '#apiserver/request/request-context';
import { composeHandlerChain, type NamedFilter } from './handler-chain.ts';

describe('composeHandlerChain', () => {
  it('runs the first filter first and the handler last', () => {
    const seen: string[] = [];
    const filter = (name: string): NamedFilter => ({
      name,
      filter: (next: Handler) => (context: RequestContext) => {
        seen.push(name);
        return next(context);
      },
    });
    const handler = composeHandlerChain([filter('a'), filter('b')], () => {
      seen.push('handler');
    });
    const context = { marks: [] as number[] };
    void handler(context as unknown as RequestContext);
    expect(context.marks).toHaveLength(6);
    expect(seen).toEqual(['a', 'b', 'handler']);
  });
});
