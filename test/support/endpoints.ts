/**
 * One endpoint of Interface A with a request that passes every check before the contact is looked up; `body` is JSON.
 */
export interface Endpoint {
  method: string
  path: string
  query: string
  scope: string
  body?: Record<string, unknown>
}

/** An id that does not exist. */
const NO_ID = '00000000-0000-7000-8000-000000000000'

const NEW_TEMPLATE = {
  name: 'good_day',
  language: 'en',
  category: 'UTILITY',
  components: [{ type: 'BODY', text: 'Good day to you' }],
}

/** Every endpoint of Interface A; a test compares the list with /openapi.json. */
export const ENDPOINTS: readonly Endpoint[] = [
  { method: 'GET', path: '/contact', query: 'phone_number=5511987650000', scope: 'contacts:read' },
  { method: 'POST', path: '/contact', query: '', scope: 'contacts:write', body: { phone_number: '5511987650000' } },
  {
    method: 'PATCH',
    path: '/contact',
    query: 'phone_number=5511987650000',
    scope: 'contacts:write',
    body: { full_name: 'Ana' },
  },
  { method: 'DELETE', path: '/contact', query: 'phone_number=5511987650000', scope: 'contacts:write' },
  { method: 'GET', path: '/contacts/export', query: 'format=json', scope: 'contacts:read' },
  // Its body is a file; a request without one is refused after all other checks.
  { method: 'POST', path: '/contacts/import', query: '', scope: 'contacts:write' },
  { method: 'GET', path: '/opt-outs', query: 'limit=10', scope: 'contacts:read' },
  { method: 'GET', path: '/opt-outs/export', query: 'format=json', scope: 'contacts:read' },
  { method: 'POST', path: '/opt-outs/import', query: '', scope: 'contacts:write' },
  { method: 'GET', path: '/conversations/export', query: 'chatNumber=5511987650000', scope: 'conversations:read' },
  { method: 'GET', path: '/conversations', query: 'chatNumber=5511987650000', scope: 'conversations:read' },
  {
    method: 'POST',
    path: '/conversations/read',
    query: '',
    scope: 'messages:send',
    body: { phone_number: '5511987650000' },
  },
  {
    method: 'POST',
    path: '/conversations/typing',
    query: '',
    scope: 'messages:send',
    body: { phone_number: '5511987650000' },
  },
  { method: 'GET', path: '/messages/{id}/trace', query: '', scope: 'conversations:read' },
  // Its body is a file, too.
  { method: 'POST', path: '/media', query: '', scope: 'messages:send' },
  {
    method: 'POST',
    path: '/send-chat',
    query: '',
    scope: 'messages:send',
    body: { phone_number: '5511987650000', message_type: 'text', text: 'Olá' },
  },
  { method: 'GET', path: '/scheduled', query: 'limit=10', scope: 'conversations:read' },
  { method: 'PATCH', path: '/scheduled/{id}', query: '', scope: 'messages:send', body: { text: 'Olá' } },
  { method: 'DELETE', path: '/scheduled/{id}', query: '', scope: 'messages:send' },
  {
    method: 'GET',
    path: '/broadcast-analytics',
    query: 'start_date=2026-01-01&end_date=2026-01-02',
    scope: 'analytics:read',
  },
  {
    method: 'POST',
    path: '/broadcast-analytics',
    query: '',
    scope: 'analytics:read',
    body: { broadcast_id: '00000000-0000-7000-8000-000000000000' },
  },
  {
    method: 'POST',
    path: '/shortlinks',
    query: '',
    scope: 'broadcasts:write',
    body: { redirect_url: 'https://shop.example/?utm_campaign=natal' },
  },
  { method: 'GET', path: '/shortlinks', query: 'limit=10', scope: 'broadcasts:read' },
  { method: 'GET', path: '/numbers', query: '', scope: 'conversations:read' },
  { method: 'GET', path: '/templates', query: '', scope: 'templates:send' },
  { method: 'POST', path: '/templates/sync', query: '', scope: 'templates:send' },
  { method: 'POST', path: '/templates', query: '', scope: 'templates:write', body: NEW_TEMPLATE },
  { method: 'POST', path: '/templates/check', query: '', scope: 'templates:write', body: NEW_TEMPLATE },
  {
    method: 'PATCH',
    path: '/templates',
    query: 'name=hello_world&language=en_US',
    scope: 'templates:write',
    body: { message_send_ttl_seconds: 60 },
  },
  { method: 'DELETE', path: '/templates', query: 'name=good_day', scope: 'templates:write' },
  { method: 'GET', path: '/templates/library', query: 'language=en_US', scope: 'templates:write' },
  // Its body is a file, as that of an import.
  { method: 'POST', path: '/templates/examples', query: '', scope: 'templates:write' },
  {
    method: 'POST',
    path: '/send-template',
    query: '',
    scope: 'templates:send',
    body: { templateName: 'hello_world', chatNumber: '5511987650000' },
  },
  // Its body is a file, as that of an import.
  { method: 'POST', path: '/audiences', query: '', scope: 'broadcasts:write' },
  { method: 'GET', path: '/audiences', query: '', scope: 'broadcasts:read' },
  { method: 'GET', path: '/audiences/{id}', query: '', scope: 'broadcasts:read' },
  { method: 'DELETE', path: '/audiences/{id}', query: '', scope: 'broadcasts:write' },
  {
    method: 'POST',
    path: '/broadcasts',
    query: '',
    scope: 'broadcasts:write',
    body: { name: 'Spring', templateName: 'hello_world', audience: { tags: ['nobody'] } },
  },
  { method: 'GET', path: '/broadcasts', query: 'kind=single', scope: 'broadcasts:read' },
  { method: 'GET', path: '/broadcasts/{id}', query: '', scope: 'broadcasts:read' },
  { method: 'GET', path: '/broadcasts/{id}/recipients', query: 'limit=10', scope: 'broadcasts:read' },
  { method: 'POST', path: '/broadcasts/{id}/pause', query: '', scope: 'broadcasts:write' },
  { method: 'POST', path: '/broadcasts/{id}/resume', query: '', scope: 'broadcasts:write' },
  { method: 'POST', path: '/broadcasts/{id}/cancel', query: '', scope: 'broadcasts:write' },
  { method: 'POST', path: '/broadcasts/{id}/retry-failed', query: '', scope: 'broadcasts:write' },
  {
    method: 'POST',
    path: '/set-webhooks',
    query: '',
    scope: 'webhooks:write',
    body: { url: 'http://127.0.0.1:9/hook', events: ['*'] },
  },
  { method: 'DELETE', path: '/set-webhooks', query: '', scope: 'webhooks:write', body: { id: NO_ID } },
  { method: 'GET', path: '/get-webhooks', query: '', scope: 'webhooks:read' },
  { method: 'POST', path: '/set-webhooks/{id}/rotate-secret', query: '', scope: 'webhooks:write' },
  { method: 'POST', path: '/set-webhooks/{id}/enable', query: '', scope: 'webhooks:write' },
  { method: 'POST', path: '/set-webhooks/{id}/test', query: '', scope: 'webhooks:write' },
  { method: 'GET', path: '/webhook-deliveries', query: 'limit=10', scope: 'webhooks:read' },
  { method: 'GET', path: '/webhook-deliveries/{id}', query: '', scope: 'webhooks:read' },
  { method: 'POST', path: '/webhook-deliveries/{id}/replay', query: '', scope: 'webhooks:write' },
  {
    method: 'POST',
    path: '/webhook-deliveries/replay',
    query: '',
    scope: 'webhooks:write',
    body: { webhook_id: NO_ID, from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' },
  },
  { method: 'GET', path: '/events', query: 'limit=10', scope: 'webhooks:read' },
]

/** Path and query, with an additional parameter if given. */
export function urlOf({ path, query }: Endpoint, parameter = ''): string {
  const all = [query, parameter].filter((part) => part !== '').join('&')
  const filled = path.replace('{id}', NO_ID)
  return all === '' ? filled : `${filled}?${all}`
}
