import type { Buffer } from 'node:buffer';
import type { StructType } from './schema.ts';

const missing = (): never => { throw new Error('protobuf: being written'); };

export function isProtobuf(_bytes: Buffer): boolean { return false; }
export function protobufKind(_bytes: Buffer): { apiVersion: string; kind: string } { return missing(); }
export function decodeProtobuf(_type: StructType, _bytes: Buffer): object { return missing(); }
export function encodeProtobuf(_type: StructType, _object: unknown): Buffer { return missing(); }
export function encodeProtobufListItem(_type: StructType, _object: unknown): Buffer { return missing(); }
export function protobufList(_listMeta: StructType, _list: { apiVersion: string; kind: string; metadata: object }, _items: readonly Buffer[]): Buffer[] { return missing(); }
export function encodeProtobufWatchEvent(_type: StructType, _event: string, _object: unknown): Buffer { return missing(); }
