import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api } from '../../api/client.js'
import { useLive } from '../../api/live.js'
import { notifyDone, notifyError } from '../../shared/problem.js'
import type { Fault, LibraryTemplate, Template } from './types.js'

/** The query key of all templates; broadcasts read the same list. */
export const TEMPLATES = ['templates'] as const

/** All known templates, by name and language. */
export function useAllTemplates() {
  return useQuery({
    queryKey: TEMPLATES,
    queryFn: async ({ signal }) => (await api.get<{ templates: Template[] }>('/templates', {}, signal)).templates,
  })
}

/**
 * What WhatsApp would not take of a template. The service has the rules. Undefined while it answers, and before the
 * template has a name and a language, without which the service refuses to check it.
 */
export function useFaults(body: { name: string; language: string }) {
  return useQuery({
    queryKey: ['template-faults', body],
    queryFn: async ({ signal }) => (await api.post<{ faults: Fault[] }>('/templates/check', body, { signal })).faults,
    enabled: body.name !== '' && body.language !== '',
    placeholderData: (previous) => previous,
    gcTime: 60_000,
    retry: false,
  })
}

/** WhatsApp's library, page by page. */
export function useLibrary(search: string, language: string) {
  return useInfiniteQuery({
    queryKey: ['template-library', search, language],
    initialPageParam: '',
    queryFn: ({ signal, pageParam }) =>
      api.get<{ templates: LibraryTemplate[]; next: string | null }>(
        '/templates/library',
        { search, language, after: pageParam },
        signal,
      ),
    getNextPageParam: ({ next }) => next,
  })
}

/** Fetches the templates from WhatsApp. */
export function useSync() {
  const { t } = useTranslation('templates')
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => api.post<{ total: number }>('/templates/sync'),
    onSuccess: ({ total }) => {
      notifyDone(t('synced', { count: total }))
      return queries.invalidateQueries({ queryKey: TEMPLATES })
    },
    onError: (error) => notifyError(error),
  })
}

/** Deletes a template in one language. */
export function useDelete() {
  const { t } = useTranslation('templates')
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ name, language }: Template) => api.delete('/templates', { name, language }),
    onSuccess: () => notifyDone(t('remove.done')),
    onError: (error) => notifyError(error),
    onSettled: () => queries.invalidateQueries({ queryKey: TEMPLATES }),
  })
}

/** Reloads the templates when one changes. */
export function useLiveTemplates(): void {
  const queries = useQueryClient()
  useLive(({ type }) => {
    if (type.startsWith('template.')) void queries.invalidateQueries({ queryKey: TEMPLATES })
  })
}
