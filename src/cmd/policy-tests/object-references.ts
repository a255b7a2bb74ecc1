import { join } from 'node:path';
import { errorMessage } from '#apiserver/base/system-error';
import type { KubeObject } from '#apimachinery/meta/types';
import { applyMergePatch } from '#apimachinery/patch/merge-patch';
import { deepCopy } from '#apimachinery/runtime/copy';
import { atOnce } from '#apimachinery/runtime/steps';
import { type FieldError, invalid, type Path } from '#apimachinery/validation/field';
import { FieldReader } from '#cmd/config/structured-file';
import { isObject, readObjects } from '#cmd/objects/documents';

/**
 * Reads objects that a test file contains, or names by their file:
 *
 *     object: { file: pod.yaml, kind: Pod, name: web, merge: { spec: { hostNetwork: true } } }
 *
 * `kind` and `name` select objects of the file, and `merge` is an RFC 7396 merge patch.
 */
export class ObjectReferences {
  readonly #files = new Map<string, Promise<readonly KubeObject[]>>();

  constructor(
    readonly folder: string,
    readonly errors: FieldError[],
  ) {}

  /** Reads a member that is one object; undefined if it is absent or wrong. `isOptions`: the object has no metadata of its own. */
  async one(fields: FieldReader, name: string, isOptions = false): Promise<KubeObject | undefined> {
    if (!fields.has(name)) return undefined;
    const value = fields.value(name);
    const objects = await this.#read(isOptions ? withMetadata(value) : value, fields.at(name));
    if (objects && objects.length > 1)
      this.errors.push(invalid(fields.at(name), `${objects.length} objects`, 'must be one object: select it with kind and name'));
    return objects?.[0];
  }

  /** Reads a member that is a list of objects. */
  async list(fields: FieldReader, name: string): Promise<KubeObject[]> {
    const read = await Promise.all(fields.list(name).map((value, i) => this.#read(value, fields.at(name).index(i))));
    return read.flatMap((objects) => objects ?? []);
  }

  async #read(value: unknown, path: Path): Promise<readonly KubeObject[] | undefined> {
    if (isObject(value)) return [value];
    const fields = new FieldReader(value, path, this.errors);
    const isReference = typeof value === 'object' && value !== null && Object.hasOwn(value, 'file');
    if (!isReference) {
      this.errors.push(invalid(path, '', 'must be an object with apiVersion, kind and metadata, or name one by file'));
      return undefined;
    }
    const file = fields.requiredText('file');
    const kind = fields.text('kind');
    const name = fields.text('name');
    const merge = fields.value('merge');
    fields.done();
    const objects = file === '' ? undefined : await this.#objectsOf(join(this.folder, file), fields.at('file'));
    if (!objects) return undefined;
    const selected = objects.filter((one) => (kind === '' || one.kind === kind) && (name === '' || one.metadata.name === name));
    if (selected.length === 0) this.errors.push(invalid(fields.at('file'), file, 'has no such object'));
    if (merge === undefined) return selected;
    const merged = selected.map((object) => atOnce(applyMergePatch(deepCopy(object), merge)));
    if (merged.every(isObject)) return merged;
    this.errors.push(invalid(fields.at('merge'), '', 'must leave an object with apiVersion, kind and metadata'));
    return undefined;
  }

  async #objectsOf(file: string, path: Path): Promise<readonly KubeObject[] | undefined> {
    let reading = this.#files.get(file);
    if (!reading) {
      reading = readObjects([file], { mayBeEmpty: true }).then((found) => found.map(({ object }) => object));
      this.#files.set(file, reading);
    }
    try {
      return await reading;
    } catch (error) {
      this.errors.push(invalid(path, file, errorMessage(error)));
      return undefined;
    }
  }
}

/** Options kinds, such as PodExecOptions, have no metadata; in tests theirs has the name and the namespace of the connection's object. */
function withMetadata(value: unknown): unknown {
  return typeof value === 'object' && value !== null && !('file' in value) ? { metadata: {}, ...value } : value;
}
