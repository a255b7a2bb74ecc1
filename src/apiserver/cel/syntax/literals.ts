import { Double, intValue, Uint, type Value } from '../runtime/values.ts';
import type { Token, TokenKind } from './lexer.ts';
import { unescapeBytes, UnescapeError, unescapeString } from './unescape.ts';

/** A literal that is grammatical but out of range. */
export class LiteralError {
  constructor(readonly message: string) {}
}

/** Returns the value of a literal. */
export function literalValue(sign: string, { kind, text }: Token): Value | LiteralError {
  switch (kind) {
    case 'NUM_INT':
      return intValue(BigInt(text) * (sign === '-' ? -1n : 1n)) ?? new LiteralError('invalid int literal');
    case 'NUM_UINT': {
      const value = BigInt(text.slice(0, -1));
      return value <= 0xffff_ffff_ffff_ffffn ? new Uint(value) : new LiteralError('invalid uint literal');
    }
    case 'NUM_FLOAT': {
      const value = Number(sign + text);
      return Number.isFinite(value) ? new Double(value) : new LiteralError('invalid double literal');
    }
    case 'true':
      return true;
    case 'false':
      return false;
    case 'null':
      return null;
    default:
      return textValue(kind, text);
  }
}

function textValue(kind: TokenKind, text: string): Value | LiteralError {
  try {
    return kind === 'BYTES' ? unescapeBytes(text.slice(1)) : unescapeString(text);
  } catch (error) {
    if (error instanceof UnescapeError) return new LiteralError(error.message);
    throw error;
  }
}
