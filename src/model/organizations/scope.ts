/** What an API key may be allowed to do (contract 3). */
export const SCOPES = [
  'contacts:read',
  'contacts:write',
  'conversations:read',
  'messages:send',
  'templates:send',
  'broadcasts:read',
  'broadcasts:write',
  'analytics:read',
  'webhooks:read',
  'webhooks:write',
  'gateway',
] as const

export type Scope = (typeof SCOPES)[number]
