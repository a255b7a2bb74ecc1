import type { V3Document } from '#apimachinery/openapi/swagger';
import type { Steps } from '#apimachinery/runtime/steps';

/** Builds a document of OpenAPI 3.0 on first use, and again for the joined document of 2.0. */
export type DocumentBuilder = () => Steps<V3Document>;
