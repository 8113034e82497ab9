package execute

import "context"

// Progress is told how far a running action is: done and total in unit ("bytes"; total 0 when not known), and a few words.
type Progress func(done, total int64, text string)

type progressKey struct{}

// WithProgress returns a context under which executors tell p how far the action is. p is called from any goroutine.
func WithProgress(ctx context.Context, p Progress) context.Context {
	return context.WithValue(ctx, progressKey{}, p)
}

// ReportProgress tells the context's Progress, if there is one.
func ReportProgress(ctx context.Context, done, total int64, text string) {
	if p, ok := ctx.Value(progressKey{}).(Progress); ok {
		p(done, total, text)
	}
}
