/** Bytes of what people call a megabyte. */
export const MEBIBYTE = 1_048_576
