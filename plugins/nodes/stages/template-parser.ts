/** Thrown for a template that this subset of Go's text/template does not have, and for errors of its execution. */
export class TemplateError extends Error {}

/** A value of a pipeline. */
export type Expression =
  | { readonly type: 'literal'; readonly value: unknown }
  | { readonly type: 'dot' }
  | { readonly type: 'variable'; readonly name: string }
  | { readonly type: 'field'; readonly of: Expression; readonly name: string }
  | { readonly type: 'call'; readonly name: string; readonly args: readonly Expression[] };

export type TemplateNode =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'output'; readonly value: Expression }
  | { readonly type: 'assign'; readonly name: string; readonly declares: boolean; readonly value: Expression }
  | {
      readonly type: 'if' | 'with';
      readonly value: Expression;
      readonly then: readonly TemplateNode[];
      readonly otherwise: readonly TemplateNode[];
    }
  | {
      readonly type: 'range';
      readonly key: string | undefined;
      readonly item: string | undefined;
      readonly value: Expression;
      readonly then: readonly TemplateNode[];
      readonly otherwise: readonly TemplateNode[];
    };

const maxLength = 262_144;
const action = /\{\{(- )?(?:\s*\/\*[\s\S]*?\*\/\s*|((?:"(?:[^"\\\n]|\\.)*"|`[^`]*`|[^}"`]|\}(?!\}))*?))( -)?\}\}/y;

/** Parses a template: text with actions in double braces. Throws TemplateError. Upstream: Go's text/template/parse. */
export function parseTemplate(text: string): TemplateNode[] {
  if (text.length > maxLength) throw new TemplateError('the template is too long');
  const pieces: (string | { readonly action: string })[] = [];
  let at = 0;
  let trims = false;
  for (let open = text.indexOf('{{'); open >= 0; open = text.indexOf('{{', at)) {
    action.lastIndex = open;
    const match = action.exec(text);
    if (!match) throw new TemplateError('unclosed action');
    const [whole, trimBefore, body, trimAfter] = match;
    const before = text.slice(at, match.index);
    const started = trims ? before.trimStart() : before;
    pieces.push(trimBefore ? started.trimEnd() : started);
    if (body !== undefined) pieces.push({ action: body.trim() });
    trims = Boolean(trimAfter);
    at = match.index + whole.length;
  }
  const rest = text.slice(at);
  pieces.push(trims ? rest.trimStart() : rest);
  const parser = new BlockParser(pieces);
  const { nodes, end } = parser.block();
  if (end !== undefined) throw new TemplateError(`unexpected {{${end}}}`);
  return nodes;
}

class BlockParser {
  #at = 0;
  #depth = 0;

  constructor(private readonly pieces: readonly (string | { readonly action: string })[]) {}

  /** Parses until `else` or `end`, which it returns. */
  block(): { readonly nodes: TemplateNode[]; readonly end: string | undefined } {
    const nodes: TemplateNode[] = [];
    while (this.#at < this.pieces.length) {
      const piece = this.pieces[this.#at++] as string | { readonly action: string };
      if (typeof piece === 'string') {
        if (piece !== '') nodes.push({ type: 'text', text: piece });
        continue;
      }
      const word = /^\w+/.exec(piece.action)?.[0];
      if (word === 'end' || word === 'else') return { nodes, end: piece.action };
      nodes.push(this.#action(piece.action, word));
    }
    return { nodes, end: undefined };
  }

  #action(text: string, word: string | undefined): TemplateNode {
    if (word === 'if' || word === 'with' || word === 'range') return this.#control(word, text.slice(word.length).trim());
    if (word === 'define' || word === 'template' || word === 'block' || word === 'break' || word === 'continue')
      throw new TemplateError(`{{${word}}} is not supported`);
    const assignment = /^(\$\w*)\s*(:?=)(?!=)\s*([\s\S]+)$/.exec(text);
    if (!assignment) return { type: 'output', value: parsePipeline(text) };
    return {
      type: 'assign',
      name: assignment[1] as string,
      declares: assignment[2] === ':=',
      value: parsePipeline(assignment[3] as string),
    };
  }

  #control(type: 'if' | 'with' | 'range', head: string): TemplateNode {
    if ((this.#depth += 1) > 50) throw new TemplateError('the template is nested too deeply');
    const { nodes: then, end } = this.block();
    const otherwise = this.#otherwise(type, end);
    this.#depth -= 1;
    if (type !== 'range') return { type, value: parsePipeline(head), then, otherwise };
    const variables = /^(\$\w+)(?:\s*,\s*(\$\w+))?\s*:=\s*([\s\S]+)$/.exec(head);
    if (!variables) return { type, key: undefined, item: undefined, value: parsePipeline(head), then, otherwise };
    const [, first, second, source] = variables;
    return {
      type,
      key: second === undefined ? undefined : first,
      item: second ?? first,
      value: parsePipeline(source as string),
      then,
      otherwise,
    };
  }

  #otherwise(type: string, end: string | undefined): TemplateNode[] {
    if (end === undefined) throw new TemplateError(`{{${type}}} without {{end}}`);
    if (end === 'end') return [];
    const rest = end.slice('else'.length).trim();
    const nested = /^(if|with)\b\s*([\s\S]*)$/.exec(rest);
    if (nested) return [this.#control(nested[1] as 'if' | 'with', nested[2] as string)];
    if (rest !== '') throw new TemplateError(`unexpected {{${end}}}`);
    const { nodes, end: last } = this.block();
    if (last !== 'end') throw new TemplateError(`{{${type}}} without {{end}}`);
    return nodes;
  }
}

const token = /\s*(?:("(?:[^"\\]|\\.)*")|(`[^`]*`)|(-?\d+(?:\.\d+)?)|(\$\w*)|(\.\w+)|(\w+)|([().|]))/y;

interface Token {
  readonly type: 'string' | 'raw' | 'number' | 'variable' | 'field' | 'word' | 'sign';
  readonly text: string;
  /** True if white space precedes the token. */
  readonly isSpaced: boolean;
}

const tokenTypes = ['string', 'raw', 'number', 'variable', 'field', 'word', 'sign'] as const;

function tokensOf(text: string): Token[] {
  const found: Token[] = [];
  const trimmed = text.trimEnd();
  token.lastIndex = 0;
  while (token.lastIndex < trimmed.length) {
    const at = token.lastIndex;
    const match = token.exec(trimmed);
    const i = match ? tokenTypes.findIndex((_, group) => match[group + 1] !== undefined) : -1;
    if (!match || i < 0) throw new TemplateError(`unexpected ${JSON.stringify(trimmed.slice(at, at + 10))}`);
    found.push({ type: tokenTypes[i] as Token['type'], text: match[i + 1] as string, isSpaced: /^\s/.test(match[0]) });
  }
  return found;
}

/** Parses a pipeline: commands joined by `|`, each of which gets the value before it as its last argument. */
export function parsePipeline(text: string): Expression {
  const parser = new PipelineParser(tokensOf(text));
  const value = parser.pipeline();
  parser.expectEnd();
  return value;
}

class PipelineParser {
  #at = 0;
  #depth = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  expectEnd(): void {
    if (this.#at < this.tokens.length) throw new TemplateError(`unexpected ${JSON.stringify(this.tokens[this.#at]?.text)}`);
  }

  pipeline(): Expression {
    if ((this.#depth += 1) > 50) throw new TemplateError('the pipeline is nested too deeply');
    let value = this.#command(undefined);
    while (this.#isSign('|')) {
      this.#at += 1;
      value = this.#command(value);
    }
    this.#depth -= 1;
    return value;
  }

  #isSign(text: string): boolean {
    const next = this.tokens[this.#at];
    return next?.type === 'sign' && next.text === text;
  }

  #command(piped: Expression | undefined): Expression {
    const first = this.tokens[this.#at];
    if (first?.type === 'word' && !isConstant(first.text)) {
      this.#at += 1;
      const args: Expression[] = [];
      while (this.#at < this.tokens.length && !this.#isSign('|') && !this.#isSign(')')) args.push(this.#operand());
      return { type: 'call', name: first.text, args: piped ? [...args, piped] : args };
    }
    if (piped) throw new TemplateError('a value is piped into something that is not a function');
    return this.#operand();
  }

  #operand(): Expression {
    let value = this.#primary();
    for (let next = this.tokens[this.#at]; next?.type === 'field' && !next.isSpaced; next = this.tokens[this.#at]) {
      value = { type: 'field', of: value, name: next.text.slice(1) };
      this.#at += 1;
    }
    return value;
  }

  #primary(): Expression {
    const next = this.tokens[this.#at++];
    if (!next) throw new TemplateError('missing value');
    switch (next.type) {
      case 'string':
        return { type: 'literal', value: unquote(next.text) };
      case 'raw':
        return { type: 'literal', value: next.text.slice(1, -1) };
      case 'number':
        return { type: 'literal', value: Number(next.text) };
      case 'variable':
        return { type: 'variable', name: next.text };
      case 'field':
        return { type: 'field', of: { type: 'dot' }, name: next.text.slice(1) };
      case 'word':
        return isConstant(next.text)
          ? { type: 'literal', value: next.text === 'nil' ? undefined : next.text === 'true' }
          : { type: 'call', name: next.text, args: [] };
      case 'sign': {
        if (next.text === '.') return { type: 'dot' };
        if (next.text !== '(') throw new TemplateError(`unexpected ${JSON.stringify(next.text)}`);
        const value = this.pipeline();
        if (!this.#isSign(')')) throw new TemplateError('expected )');
        this.#at += 1;
        return value;
      }
    }
  }
}

const isConstant = (word: string): boolean => word === 'true' || word === 'false' || word === 'nil';

function unquote(text: string): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    throw new TemplateError(`invalid string ${text}`);
  }
}
