// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "deliveries.get": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000020"},
      "status": 200,
      "answer": {
        "success": true,
        "delivery": {
          "id": "01a20000-0000-7000-8000-000000000020",
          "webhook_id": "01a20000-0000-7000-8000-000000000001",
          "event_id": "01a20000-0000-7000-8000-000000000021",
          "event_type": "webhook.test",
          "status": "delivered",
          "attempts": [
            {
              "at": "2026-03-02T09:00:00.000Z",
              "response_status": 204,
              "error": null,
              "duration_ms": 42,
              "response_body": null
            }
          ],
          "next_attempt_at": null,
          "created_at": "2026-03-02T09:00:00.000Z"
        },
        "body": {
          "type": "webhook.test",
          "timestamp": "2026-03-02T09:00:00.000Z",
          "data": {
            "webhook": {
              "id": "01a20000-0000-7000-8000-000000000001",
              "url": "https://shop.example/hooks/parley",
              "events": ["*"],
              "description": "Orders",
              "active": true,
              "created_at": "2026-03-02T09:00:00.000Z",
              "updated_at": "2026-03-02T09:00:00.000Z",
              "disabled_reason": null
            }
          }
        }
      }
    },
    {
      "name": "delivery_not_found",
      "path": {"id": "01a20000-0000-7000-8000-000000000019"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Delivery not found",
        "message": "There is no delivery with the id 01a20000-0000-7000-8000-000000000019 in this organization"
      }
    }
  ],
  "deliveries.list": [
    {
      "name": "example",
      "query": {"webhook_id": "01a20000-0000-7000-8000-000000000001", "limit": "1"},
      "status": 200,
      "answer": {
        "success": true,
        "deliveries": [
          {
            "id": "01a20000-0000-7000-8000-000000000022",
            "webhook_id": "01a20000-0000-7000-8000-000000000001",
            "event_id": "01a20000-0000-7000-8000-000000000023",
            "event_type": "contact.opted_out",
            "status": "delivered",
            "attempts": [
              {
                "at": "2026-03-02T09:00:00.000Z",
                "response_status": 204,
                "error": null,
                "duration_ms": 42,
                "response_body": null
              }
            ],
            "next_attempt_at": null,
            "created_at": "2026-03-02T09:00:00.000Z"
          }
        ],
        "pagination": {
          "currentPage": 1,
          "totalPages": 24,
          "totalDeliveries": 24,
          "deliveriesPerPage": 1,
          "hasNextPage": true,
          "hasPrevPage": false
        },
        "count": 1
      }
    },
    {
      "name": "invalid_parameter",
      "query": {"status": "lost"},
      "status": 400,
      "answer": {
        "success": false,
        "error": "Invalid parameter",
        "message": "status must be one of pending, delivered, failed, not \"lost\""
      }
    }
  ],
  "deliveries.replay": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000020"},
      "status": 200,
      "answer": {
        "success": true,
        "message": "The event is delivered once more",
        "delivery": {
          "id": "01a20000-0000-7000-8000-000000000024",
          "webhook_id": "01a20000-0000-7000-8000-000000000001",
          "event_id": "01a20000-0000-7000-8000-000000000021",
          "event_type": "webhook.test",
          "status": "pending",
          "attempts": [],
          "next_attempt_at": "2026-03-02T09:00:00.000Z",
          "created_at": "2026-03-02T09:00:00.000Z"
        }
      }
    },
    {
      "name": "delivery_not_found",
      "path": {"id": "01a20000-0000-7000-8000-000000000019"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Delivery not found",
        "message": "There is no delivery with the id 01a20000-0000-7000-8000-000000000019 in this organization"
      }
    }
  ],
  "deliveries.replayRange": [
    {
      "name": "example",
      "body": {
        "webhook_id": "01a20000-0000-7000-8000-000000000001",
        "from": "2026-01-01T00:00:00Z",
        "to": "2026-01-02T00:00:00Z"
      },
      "status": 200,
      "answer": {"success": true, "message": "0 events are delivered to the webhook", "count": 0}
    },
    {
      "name": "webhook_not_found",
      "body": {
        "webhook_id": "01a20000-0000-7000-8000-000000000019",
        "from": "2026-01-01T00:00:00Z",
        "to": "2026-01-02T00:00:00Z"
      },
      "status": 404,
      "answer": {
        "success": false,
        "error": "Webhook not found",
        "message": "There is no webhook with the id 01a20000-0000-7000-8000-000000000019 in this organization"
      }
    }
  ]
}
