import { Alert, Button, Text } from '@mantine/core'
import { IconFlask } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api } from '../../../../api/client.js'
import { messageOf } from '../../../../shared/problem.js'
import { instancePath } from '../path.js'

/** In the sandbox, lets a simulated phone scan the code. */
export function ScanButton({ name }: { name: string }) {
  const { t } = useTranslation('settings')
  const queries = useQueryClient()
  const scan = useMutation({
    mutationFn: () => api.post(instancePath(name, '/scan')),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['instance-code', name] }),
  })
  return (
    <>
      {scan.isError && (
        <Alert color="red" role="alert">
          {messageOf(scan.error)}
        </Alert>
      )}
      <Text size="sm" c="dimmed" ta="center">
        {t('instances.simulatedHint')}
      </Text>
      <Button leftSection={<IconFlask size={18} aria-hidden />} onClick={() => scan.mutate()} loading={scan.isPending}>
        {t('instances.simulatedScan')}
      </Button>
    </>
  )
}
