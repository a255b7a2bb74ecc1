import type { V3Document } from '#apimachinery/openapi/swagger';
import type { Steps } from '#apimachinery/runtime/steps';

/** Builds an OpenAPI 3.0 document on first use, and again for the joined 2.0 document. */
export type DocumentBuilder = () => Steps<V3Document>;
