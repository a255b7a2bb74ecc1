import { typeSearch } from './type-search.ts';

/** True if objects of a type may have raw content with its number literals: a RawExtension of Go. */
export const hasRawContent = typeSearch((type) => type.kind === 'raw' && type.name === 'runtime.RawExtension');
