/** The scopes of API keys. */
export const SCOPES = [
  'contacts:read',
  'contacts:write',
  'conversations:read',
  'messages:send',
  'templates:send',
  'templates:write',
  'broadcasts:read',
  'broadcasts:write',
  'analytics:read',
  'webhooks:read',
  'webhooks:write',
  'gateway',
] as const

export type Scope = (typeof SCOPES)[number]
