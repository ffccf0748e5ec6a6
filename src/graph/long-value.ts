/** Bytes of a value from which on what follows from it is worked out with pauses. */
export const LONG_VALUE = 16_384;
