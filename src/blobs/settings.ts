/** A bucket of an S3-compatible store. */
export interface S3Settings {
  bucket: string
  /** What every key is put below, without slashes around it; empty = nothing. */
  prefix: string
  /** undefined = AWS's own. */
  endpoint: string | undefined
  region: string
  /** Both or none; none = what the AWS SDK finds by itself, such as the role of the machine. */
  accessKey: string | undefined
  secretKey: string | undefined
}

/** Where media is kept (contract 1, `PARLEY_MEDIA_URL`). */
export type MediaSettings = { kind: 'files' } | ({ kind: 's3' } & S3Settings)
