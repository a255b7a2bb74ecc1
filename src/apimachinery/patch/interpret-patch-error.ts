import { newBadRequest, newGenericServerResponse } from '#apimachinery/api/errors';
import { JsonPatchError } from './json-patch.ts';
import { StrategicMergePatchError } from './strategic-merge-patch.ts';

/**
 * Returns the error for a failed PATCH, as apiserver/pkg/endpoints/handlers/patch.go maps it:
 *
 * | thrown                                 | response                                          |
 * |----------------------------------------|---------------------------------------------------|
 * | JsonPatchError                         | 422 Invalid, without the message                  |
 * | StrategicMergePatchError badRequest    | 400 BadRequest with the message                   |
 * | StrategicMergePatchError unprocessable | 422 Invalid, without the message                  |
 * | StrategicMergePatchError internal      | the error itself: 500 with the message, no reason |
 * | any other, including StatusErrors      | the error itself                                  |
 */
export function interpretPatchError(error: unknown): unknown {
  if (error instanceof JsonPatchError) return unprocessable(error);
  if (error instanceof StrategicMergePatchError) {
    if (error.answer === 'badRequest') return newBadRequest(error.message);
    if (error.answer === 'unprocessable') return unprocessable(error);
  }
  return error;
}

const unprocessable = (error: Error) => newGenericServerResponse(422, '', undefined, '', error.message);
