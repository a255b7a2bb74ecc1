import { Buffer } from 'node:buffer';
import type { GroupVersionKind, KubeObject } from '#apimachinery/meta/types';
import { isJsonObject } from '#apimachinery/patch/own-property';
import { DecodeError, encodeJson, encodeJsonSteps } from '#apimachinery/runtime/json/json';
import { oneStep, type Steps } from '#apimachinery/runtime/steps';
import type { ChunkedForms } from '#apiserver/admission/object-forms';

/**
 * Objects of a kind without a known type, such as a custom resource of the cluster. They have one form. The cluster's server checks and
 * defaults what plugins change.
 */
export class UntypedForms implements ChunkedForms {
  readonly equivalents: ChunkedForms['equivalents'] = [];

  convert(object: KubeObject): KubeObject {
    return object;
  }

  encode(object: KubeObject): string {
    return encodeJson(object);
  }

  decode(document: unknown, { kind }: GroupVersionKind): KubeObject {
    if (!isJsonObject(document)) throw new DecodeError(`an object of kind ${kind} must be a JSON object`);
    document['metadata'] ??= {};
    if (!isJsonObject(document['metadata'])) throw new DecodeError(`metadata of an object of kind ${kind} must be a JSON object`);
    return document as unknown as KubeObject;
  }

  *encodeSteps(object: KubeObject): Steps<Buffer> {
    return Buffer.concat(yield* encodeJsonSteps(object));
  }

  decodeSteps(document: unknown, kind: GroupVersionKind): Steps<KubeObject> {
    return oneStep(() => this.decode(document, kind));
  }

  complete(object: KubeObject): KubeObject {
    return object;
  }

  revise(object: KubeObject): KubeObject {
    return object;
  }

  shape(): undefined {
    return undefined;
  }
}
