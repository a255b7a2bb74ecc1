import { typeSearch } from './type-search.ts';

/** True if objects of a type may hold content that stays as it was written, with its literals of numbers: a RawExtension of Go. */
export const hasRawContent = typeSearch((type) => type.kind === 'raw' && type.name === 'runtime.RawExtension');
