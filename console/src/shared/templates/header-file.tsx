import { FileInput, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api } from '../../api/client.js'
import { messageOf } from '../problem.js'
import type { HeaderMedia } from './header-media.js'

const ACCEPTED = { image: 'image/jpeg,image/png', video: 'video/mp4,video/3gpp', document: undefined }

interface HeaderFileProps {
  kind: keyof typeof ACCEPTED
  /** Of the field for an address. */
  label: string
  description: string
  value: HeaderMedia
  onChange: (value: HeaderMedia) => void
  error?: React.ReactNode
}

/** The file above a template's text: chosen on this computer, which uploads it at once, or given by its address. */
export function HeaderFile({ kind, label, description, value, onChange, error }: HeaderFileProps) {
  const { t } = useTranslation()
  const [file, setFile] = useState<File | null>(null)
  const upload = useMutation({
    mutationFn: (chosen: File) =>
      api.post<{ media: { id: string } }>('/media', chosen, { query: { filename: chosen.name } }),
    onSuccess: ({ media }) => onChange({ headerMedia: '', headerMediaId: media.id }),
  })
  return (
    <Stack gap="xs">
      <FileInput
        label={t('headerFile.label')}
        description={t(file === null && value.headerMediaId !== null ? 'headerFile.kept' : 'headerFile.hint')}
        accept={ACCEPTED[kind]}
        value={file}
        onChange={(chosen) => {
          setFile(chosen)
          onChange({ ...value, headerMediaId: null })
          if (chosen) upload.mutate(chosen)
        }}
        error={upload.isError && file !== null ? messageOf(upload.error) : undefined}
        disabled={upload.isPending}
        clearable
        clearButtonProps={{ 'aria-label': t('remove') }}
      />
      <TextInput
        label={label}
        description={description}
        type="url"
        placeholder="https://"
        maxLength={2_048}
        value={value.headerMedia}
        onChange={({ currentTarget }) => {
          setFile(null)
          onChange({ headerMedia: currentTarget.value, headerMediaId: null })
        }}
        error={error}
        required={value.headerMediaId === null}
      />
    </Stack>
  )
}
