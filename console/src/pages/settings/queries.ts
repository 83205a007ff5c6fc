import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.js'
import type { ApiKey, Instance, Notice, NumberHealth, PhoneHistory, Settings, Webhook } from './types.js'

/** Query keys of the settings. */
export const SETTINGS = ['settings'] as const
export const NUMBER_HEALTH = ['settings', 'number-health'] as const
export const KEYS = ['keys'] as const
export const TEAM = ['team'] as const
export const WEBHOOKS = ['webhooks'] as const
export const DELIVERIES = ['deliveries'] as const
export const INSTANCES = ['instances'] as const
export const NOTICES = ['notices'] as const
export const HISTORIES = ['phone-histories'] as const

/** Polling interval for data that changes without a live event. */
export const POLL_MS = 4_000

/** The organization and its connections. */
export function useSettings() {
  return useQuery({
    queryKey: SETTINGS,
    queryFn: ({ signal }) => api.get<Settings>('/settings', {}, signal),
  })
}

/** The states of the organization's numbers at their last checks, the first one first. */
export function useNumberHealth() {
  return useQuery({
    queryKey: NUMBER_HEALTH,
    queryFn: async ({ signal }) =>
      (await api.get<{ numbers: NumberHealth[] }>('/settings/upstream/health', {}, signal)).numbers,
  })
}

/** What WhatsApp reported about the account and its numbers, newest first. */
export function useNotices() {
  return useQuery({
    queryKey: NOTICES,
    queryFn: async ({ signal }) => (await api.get<{ notices: Notice[] }>('/notices', {}, signal)).notices,
  })
}

/** What has been taken in of the histories of phones; the organization's own number first. */
export function usePhoneHistories() {
  return useQuery({
    queryKey: HISTORIES,
    queryFn: async ({ signal }) =>
      (await api.get<{ histories: PhoneHistory[] }>('/phone-histories', {}, signal)).histories,
  })
}

/** The organization's API keys, newest first. */
export function useKeys() {
  return useQuery({
    queryKey: KEYS,
    queryFn: async ({ signal }) => (await api.get<{ api_keys: ApiKey[] }>('/keys', {}, signal)).api_keys.toReversed(),
  })
}

/** The organization's webhooks, oldest first. */
export function useWebhooks() {
  return useQuery({
    queryKey: WEBHOOKS,
    queryFn: async ({ signal }) => (await api.get<{ webhooks: Webhook[] }>('/get-webhooks', {}, signal)).webhooks,
  })
}

/** The organization's instances, polled while one is connecting. */
export function useInstances() {
  return useQuery({
    queryKey: INSTANCES,
    queryFn: async ({ signal }) => (await api.get<{ instances: Instance[] }>('/instances', {}, signal)).instances,
    refetchInterval: ({ state }) => (state.data?.some((one) => one.state === 'connecting') ? POLL_MS : false),
  })
}
