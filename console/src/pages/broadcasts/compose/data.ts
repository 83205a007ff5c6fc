import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { AudienceCount } from '../../../../../src/model/broadcasts/audience.js'
import type { ReadList } from '../../../../../src/model/broadcasts/read-list.js'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import { api } from '../../../api/client.js'
import type { ShownTemplate } from '../../../shared/templates/template-form.js'

export const TEMPLATES = ['templates'] as const

/** The approved templates, by name. */
export function useTemplates() {
  return useQuery({
    queryKey: TEMPLATES,
    queryFn: async ({ signal }) => (await api.get<{ templates: ShownTemplate[] }>('/templates', {}, signal)).templates,
    select: (templates) => templates.filter(({ status }) => status === 'APPROVED'),
  })
}

/** Contacts whose name or number matches. */
export function useContactSearch(search: string) {
  return useQuery({
    queryKey: ['contact-search', search],
    queryFn: async ({ signal }) =>
      (await api.get<{ contacts: InboxContact[] }>('/inbox', { search, limit: 20 }, signal)).contacts,
    placeholderData: keepPreviousData,
  })
}

/** How many people an audience reaches. Null requests nothing. */
export function useReach(audience: object | null) {
  return useQuery({
    queryKey: ['reach', audience],
    enabled: audience !== null,
    queryFn: ({ signal }) => api.post<AudienceCount>('/audience', { audience }, { signal }),
    placeholderData: keepPreviousData,
    gcTime: 60_000,
  })
}

/** Read by the service, as POST /audiences reads it. Null reads nothing. */
export function useList(file: Blob | null, key: string, template: ShownTemplate | null) {
  return useQuery({
    queryKey: ['list', key, template?.name, template?.language],
    enabled: file !== null,
    queryFn: async ({ signal }) =>
      (await api.post<{ list: ReadList }>('/lists', file, { ...csvOf(template), signal })).list,
    placeholderData: keepPreviousData,
    gcTime: 60_000,
    retry: false,
  })
}

/** The options of a request with a CSV file whose columns may be called as the template's variables. */
export function csvOf(template: ShownTemplate | null) {
  return {
    contentType: 'text/csv',
    query: { templateName: template?.name, language: template?.language },
  }
}
