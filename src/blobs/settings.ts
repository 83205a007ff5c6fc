/** A bucket of an S3-compatible store. */
export interface S3Settings {
  bucket: string
  /** A prefix of all keys, without surrounding slashes; empty: none. */
  prefix: string
  /** undefined = AWS's own. */
  endpoint: string | undefined
  region: string
  /** Both or none; without them the AWS SDK finds credentials, such as the machine's role. */
  accessKey: string | undefined
  secretKey: string | undefined
}

/** Where media is stored; see `PARLEY_MEDIA_URL`. */
export type MediaSettings = { kind: 'files' } | ({ kind: 's3' } & S3Settings)
